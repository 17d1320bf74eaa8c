"""The rules of BFCL v4: categories, verdicts and aggregation."""
