"""Records as text: pure functions from values to rows, lines and blocks. No widgets."""
