"""Prompt templates of local models behind `/v1/completions`, one module per family."""
