"""Import of other tools' logs and results as runs."""
