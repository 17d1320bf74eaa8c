"""Benchmark-specific parts of the interface: `suite_view` defines the interface, `registry` finds the view."""
