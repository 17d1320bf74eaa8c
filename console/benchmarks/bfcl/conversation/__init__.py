"""Conversations about entries: prompts, turns, memory, web search."""
