"""The forms of rows and cases, and their checks. Pure."""
