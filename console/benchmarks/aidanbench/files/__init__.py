"""Results in the layout of the verifiers tools."""
