"""BFCL's memory categories: three backends, conversations that fill them, and questions about their content."""
