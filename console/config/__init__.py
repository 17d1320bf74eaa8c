"""Models, paths and secrets on the user's machine; importing this package loads nothing heavy."""
