"""Modal screens: each asks one question and returns the answer."""
