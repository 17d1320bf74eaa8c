"""The rules of cave-bench: matching calls, comparing values, scoring turns. No I/O."""
