"""A server on loopback through which other programs call our models, in the dialects they speak."""
