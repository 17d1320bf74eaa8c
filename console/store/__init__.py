"""The only reader and writer of runs/: journal, manifest, summary, notes and locks."""
