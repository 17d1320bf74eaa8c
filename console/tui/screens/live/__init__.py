"""Live: a run in progress, from disk or replayed."""
