"""The official result and score files, written and read."""
