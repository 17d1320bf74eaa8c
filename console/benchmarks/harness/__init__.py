"""Tasks of other harnesses, played by them unchanged; their model calls reach our models through a gateway."""
