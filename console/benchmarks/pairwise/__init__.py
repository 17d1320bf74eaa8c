"""Judging which of two runs' answers to the same cases is better."""
