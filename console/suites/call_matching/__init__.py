"""BFCL's comparison of function calls with ground truth: the checker, and pairing for review."""
