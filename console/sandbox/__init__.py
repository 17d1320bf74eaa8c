"""Runs code written by a model or a benchmark in a confined, disposable worker process."""
