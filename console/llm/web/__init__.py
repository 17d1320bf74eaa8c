"""The public web, as models may use it."""
