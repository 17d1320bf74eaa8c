"""Types of rows and cases, and their checks. Pure."""
