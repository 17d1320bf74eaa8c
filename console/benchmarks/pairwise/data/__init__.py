"""Answers read from runs."""
