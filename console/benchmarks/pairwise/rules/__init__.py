"""Verdicts and reports of pairs. Pure."""
