"""The dialogue format: a benchmark that is data only, one row a case."""
