"""Function calls against ground truth, by the rules of BFCL: the checker, and pairing for review."""
