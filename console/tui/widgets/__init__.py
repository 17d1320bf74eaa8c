"""Widgets drawn line by line; they know nothing of runs, suites or models."""
