"""Pure reductions of records: transcripts, run overviews, failure groups, filters and statistics."""
