"""Playing of conversations, in cave mode and in JSON mode."""
