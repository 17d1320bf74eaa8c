"""The limit on the stack: long texts are parsed recursively, and a small stack would crash the program."""

import sys
import threading

from console.core.fault import UsageError

NEEDED = 2 << 20
"""Minimum stack size in bytes, with a reserve: with less, Python's parser crashed on its longest input."""
_USUAL = 8 << 20


def ensure_stack_size() -> None:
    """Raise the stack limit for this process, its threads and children."""
    if sys.platform == "win32":
        return
    import resource

    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    except (OSError, ValueError):  # the system does not report the limit, so the usual one is likely
        return
    if soft == resource.RLIM_INFINITY or soft >= NEEDED:
        return
    enlarged = _USUAL if hard == resource.RLIM_INFINITY else min(_USUAL, hard)
    if enlarged < NEEDED or not _is_raised(enlarged, hard):
        raise UsageError(
            f"the stack is limited to {soft >> 10} KB, and {NEEDED >> 10} KB are needed: long texts of models "
            "could crash the program",
            where="ulimit -s",
            hint=f"Raise it before starting: `ulimit -s {_USUAL >> 10}`.",
        )
    threading.stack_size(enlarged)


def _is_raised(enlarged: int, hard: int) -> bool:
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_STACK, (enlarged, hard))
    except (OSError, ValueError):
        return False
    return True
