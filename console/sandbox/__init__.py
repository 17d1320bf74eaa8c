"""Running code that a model or a benchmark wrote in a confined, disposable worker process."""
