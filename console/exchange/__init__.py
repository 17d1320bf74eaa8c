"""Import and export of other tools' formats."""
