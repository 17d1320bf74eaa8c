"""The rules of cave-bench: matching calls, comparing values, scoring turns. Pure."""
