"""Logs of other tools: read in one form (`log`), made into runs (`importing`), or opened in place (`in_place`)."""
