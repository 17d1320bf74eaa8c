"""cave-bench: tool calling and code generation in a live Python runtime, graded over scripted conversations."""
