"""Worker programs that belong to no suite."""
