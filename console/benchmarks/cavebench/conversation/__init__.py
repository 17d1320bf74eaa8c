"""Conversations in cave mode and in JSON mode."""
