"""Export formats of runs and comparisons."""
