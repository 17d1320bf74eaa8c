"""Simulated services of multi-turn entries, run in a sandboxed worker, and the check of their state."""
