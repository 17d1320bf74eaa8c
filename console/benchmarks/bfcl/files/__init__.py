"""Reading and writing of the official result and score files."""
