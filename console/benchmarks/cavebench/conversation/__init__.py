"""How a conversation is played, in cave mode and in JSON mode."""
