"""The form for a new run: what can be set, what it means, what it will cost. Only `fields` and `lists` draw."""
