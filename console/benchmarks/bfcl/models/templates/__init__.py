"""Prompts of local models: each module forms the text that one family sends to `/v1/completions`."""
