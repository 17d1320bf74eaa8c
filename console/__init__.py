"""eval-console: run, watch and understand LLM evaluations in the terminal."""

__version__ = "0.1.0"
