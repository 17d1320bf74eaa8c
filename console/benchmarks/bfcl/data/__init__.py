"""The dataset files: pulling, reading, selecting."""
