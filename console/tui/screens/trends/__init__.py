"""Trends: each model's results on each suite over time."""
