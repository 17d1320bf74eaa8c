"""Reading and validation of row files."""
