"""Questions and wording: pulling and reading."""
