"""The app's data, read in threads: models, suites, runs, and the feed of each run."""
