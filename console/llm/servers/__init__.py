"""Questions about a model's server, and local servers."""
