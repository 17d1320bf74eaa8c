"""The verbs of `eval-console bfcl`."""
