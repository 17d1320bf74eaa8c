"""Forced exit for processes in which a loaded library would hang or crash during shutdown."""

import os
from collections.abc import Callable

_skipped: list[str] = []


def skip_shutdown(library: str) -> None:
    """Skip the orderly shutdown of a library when this process ends."""
    _skipped.append(library)


def finish(code: int, flush: Callable[[], None]) -> int:
    """Return the exit code or, if a library was skipped, flush and exit immediately."""
    if _skipped:
        flush()
        os._exit(code)
    return code
