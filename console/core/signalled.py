"""Base class of exceptions raised by this program's signal handlers, to distinguish them from those of suite code."""


class BySignal(BaseException):
    """Raised when a signal ends the program."""
