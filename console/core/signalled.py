"""The mark of exceptions raised by this program's signal handlers, which tells them from those of suite code."""


class BySignal(BaseException):
    """Base of the exceptions with which a signal ends the program."""
