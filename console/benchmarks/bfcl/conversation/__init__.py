"""Playing entries: prompts, turns, memory, web search."""
