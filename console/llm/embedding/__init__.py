"""Text embeddings."""
