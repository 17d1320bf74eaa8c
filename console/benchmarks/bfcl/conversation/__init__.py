"""How entries are played: prompts, turns, memory, web search."""
