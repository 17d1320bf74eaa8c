"""Formats that runs and comparisons are exported in."""
