"""cave-bench: tool calling and code generation in a live Python runtime, judged over scripted conversations."""
