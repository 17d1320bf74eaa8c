"""One module for each way in which the models of the official registry write their calls."""
