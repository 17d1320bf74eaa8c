"""Requests to and decoding of replies from the registry's models."""
