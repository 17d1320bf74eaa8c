"""The dialogue format: benchmarks defined by data only, one row per case."""
