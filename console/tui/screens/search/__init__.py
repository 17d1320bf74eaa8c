"""Search: every conversation of every run."""
