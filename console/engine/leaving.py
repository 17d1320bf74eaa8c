"""Forced exit for processes in which a loaded library would hang or crash during shutdown."""

import os
from collections.abc import Callable

_given_up: list[str] = []


def give_up(library: str) -> None:
    """Skip the orderly shutdown of a library when this process ends."""
    _given_up.append(library)


def leave(code: int, flush: Callable[[], None]) -> int:
    """Return the exit code or, if a library was given up, flush and exit immediately."""
    if _given_up:
        flush()
        os._exit(code)
    return code
