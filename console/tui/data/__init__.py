"""What the app shows, read in threads: models, suites, runs and the feed of each run."""
