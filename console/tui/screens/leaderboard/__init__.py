"""Leaderboard: every model on each suite."""
