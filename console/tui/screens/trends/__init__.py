"""Trends: each model on each suite over its runs."""
