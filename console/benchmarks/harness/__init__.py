"""Tasks of other harnesses, which play them unchanged and reach our models through a gateway."""
