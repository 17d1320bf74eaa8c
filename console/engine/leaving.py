"""How this process ends where a library that it has loaded would wait for what is gone, or crash while it waits."""

import os
from collections.abc import Callable

_given_up: list[str] = []


def give_up(library: str) -> None:
    """End this process without asking a library to end in order."""
    _given_up.append(library)


def leave(code: int, flush: Callable[[], None]) -> int:
    """Return the exit code, or end the process with it at once if a library was given up, after `flush`."""
    if _given_up:
        flush()
        os._exit(code)
    return code
