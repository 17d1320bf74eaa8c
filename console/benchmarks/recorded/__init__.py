"""Formats whose cases are in runs: imported runs, which are reviewed and compared, and pairs of answers of two runs."""
