"""Scenario files: pulling and reading."""
