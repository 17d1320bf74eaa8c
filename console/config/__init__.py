"""Models, paths and secrets of the user's machine; importing this room loads nothing heavy."""
