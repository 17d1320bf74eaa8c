"""The only reader and writer of runs/: journals, manifests, summaries, notes and locks."""
