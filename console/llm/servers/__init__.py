"""Checks and listings of a model's server, and local servers."""
