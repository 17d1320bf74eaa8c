"""The stack this process has: texts of models and datasets are parsed on it, and too small a one ends in a crash."""

import sys
import threading

from console.core.fault import UsageError

NEEDED = 2 << 20
"""Bytes below which Python's own parser, given the longest text it takes, was seen to crash; with room."""
_USUAL = 8 << 20


def ensure_stack_size() -> None:
    """Raise the limit on the stack to what is needed, for this process, its threads and what it starts.

    Raises:
        UsageError: the system does not allow that.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft == resource.RLIM_INFINITY or soft >= NEEDED:
        return
    enlarged = _USUAL if hard == resource.RLIM_INFINITY else min(_USUAL, hard)
    if enlarged < NEEDED:
        raise UsageError(
            f"the stack is limited to {soft >> 10} KB, and {NEEDED >> 10} KB are needed: long texts of models "
            "could crash the program",
            where="ulimit -s",
            hint=f"Raise it before the start: `ulimit -s {_USUAL >> 10}`.",
        )
    resource.setrlimit(resource.RLIMIT_STACK, (enlarged, hard))
    threading.stack_size(enlarged)
