"""Rows of cases: reading and validating files and tables."""
