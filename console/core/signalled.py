"""Base class of exceptions raised by this program's signal handlers, which tells them from those of suite code."""


class BySignal(BaseException):
    """An exception by which a signal ends the program."""
