"""Formats whose cases come from runs: imported runs for review and comparison, and pairs of answers from two runs."""
