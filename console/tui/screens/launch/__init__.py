"""New run: a form of models, suites and settings, with a forecast."""
