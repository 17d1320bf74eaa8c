"""Runs imported from other tools, which can be reviewed and compared but not replayed or rescored."""
