"""Pure functions that format records as rows, lines and blocks, without widgets."""
