"""BFCL's memory categories: three backends, the chain of conversations that fills them, and the questions about it."""
