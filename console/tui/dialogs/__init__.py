"""Modal screens: each asks one question and answers with a value."""
