"""Scenario files: download and reading."""
