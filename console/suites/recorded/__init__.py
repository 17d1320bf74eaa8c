"""Runs that another tool has recorded: reviewed and compared without a dataset, never played or judged anew."""

FORMAT = "recorded"
"""Format of their manifests. It has no dataset folders, and any name of a suite."""
