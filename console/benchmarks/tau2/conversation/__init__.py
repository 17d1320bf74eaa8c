"""The conversation of agent, user and environment."""
