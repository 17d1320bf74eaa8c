"""A server on loopback through which programs of others ask our models, in the dialects they speak."""
