"""The checks of the dialogue format. Pure."""
