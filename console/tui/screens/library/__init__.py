"""Library: suites, their cases, and models."""
