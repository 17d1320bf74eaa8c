"""Tasks of other harnesses, played by them unchanged, with a gateway to our models as all the models they know."""
