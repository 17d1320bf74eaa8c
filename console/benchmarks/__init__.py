"""The built-in benchmarks, one folder each."""
