"""Simulated models, which need no network."""
