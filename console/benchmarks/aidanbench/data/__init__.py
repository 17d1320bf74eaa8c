"""Questions and wording: download and reading."""
