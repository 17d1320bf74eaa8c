"""Conversation of a case: turns, canned tool results, judges."""
