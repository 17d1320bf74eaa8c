"""One screen per place and per question."""
