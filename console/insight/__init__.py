"""Pure folds and reckonings over records: transcripts, a run's overview, groups of failures, filters, statistics."""
