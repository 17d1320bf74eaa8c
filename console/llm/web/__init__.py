"""Access of models to the public web."""
