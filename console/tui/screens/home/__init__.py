"""Home: next steps, runs, models and suites."""
