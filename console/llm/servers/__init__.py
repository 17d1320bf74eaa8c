"""What can be learned about the server of a model."""
