"""Distributed runs: workers play and hold no durable state; the engine remains the only writer of the journal."""
