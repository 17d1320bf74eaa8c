"""The parts of Library: what is listed, and the sheets that describe it."""
