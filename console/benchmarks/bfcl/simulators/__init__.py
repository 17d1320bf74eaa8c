"""The simulated services of multi-turn entries, run in a confined worker, and the check of their state."""
