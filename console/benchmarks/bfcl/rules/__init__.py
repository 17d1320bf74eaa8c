"""The rules of BFCL v4: categories, verdicts, aggregation."""
