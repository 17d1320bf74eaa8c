"""General-purpose widgets, independent of runs, suites and models."""
