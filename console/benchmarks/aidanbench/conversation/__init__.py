"""Conversation loops: prompts, judge, novelty."""
