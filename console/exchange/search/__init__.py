"""Full-text search over the conversations of all runs, and the history of a case: indexing and queries."""
