"""Talking to models: one protocol, and the adapters openai, litellm and simulated behind it."""
