"""τ²-bench: an agent and a simulated user who both call tools on a shared world."""
