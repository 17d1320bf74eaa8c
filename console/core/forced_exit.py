"""Forced exit for processes in which foreign code that was loaded would hang, crash or speak during shutdown."""

import os
from collections.abc import Callable

_skipped: list[str] = []
_foreign: list[str] = []


def skip_shutdown(library: str) -> None:
    """Skip the orderly shutdown of a library when this process ends."""
    _skipped.append(library)


def note_foreign_code(name: str) -> None:
    """Note that code of a suite was loaded, which may have registered anything for the end of this process."""
    _foreign.append(name)


def finish(code: int, flush: Callable[[], None], *, ends_process: bool = False) -> int:
    """Return the exit code or, if a library was skipped, flush and exit immediately.

    Args:
        code: the exit code.
        flush: called before an immediate exit.
        ends_process: True if nothing but the end of the process follows; then foreign code has no last word either.
    """
    if _skipped or (ends_process and _foreign):
        flush()
        os._exit(code)
    return code
