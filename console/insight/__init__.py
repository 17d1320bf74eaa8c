"""Pure folds over records: transcripts, a run's overview, groups of failures, filters, statistics."""
