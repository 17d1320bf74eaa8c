"""Talking to models: one interface, and the adapters openai, litellm and simulated behind it."""
