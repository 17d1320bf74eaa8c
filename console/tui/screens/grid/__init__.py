"""Grid: more than two runs side by side."""
