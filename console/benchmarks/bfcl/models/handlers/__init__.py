"""Handlers, which define requests and parse replies; conversation loops use only their interface."""
