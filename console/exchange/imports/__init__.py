"""Logs and results of other tools, read and made into runs."""
