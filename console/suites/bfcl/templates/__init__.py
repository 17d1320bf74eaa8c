"""Prompts of local models: each module forms the text that one family of official handlers sends to `/v1/completions`."""
