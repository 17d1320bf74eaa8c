"""Regular expressions of suites, which may be badly made: searching ends after a time, whatever the expression is.

The syntax is that of the package `regex`, which contains Python's own.
"""

from functools import lru_cache

import regex

SECONDS = 1.0
"""Longest time of one search; ordinary ones take microseconds."""
_LONGEST = 10_000
"""Characters of an expression."""


class TooSlow(Exception):
    """An expression took longer than `SECONDS`."""


def problem_of(pattern: str) -> str:
    """Return why a text is no expression; empty when it is one."""
    if len(pattern) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters"
    try:
        _compiled(pattern, False)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return " ".join(str(error).split())[:200]
    return ""


def search(pattern: str, text: str, *, ignore_case: bool = False) -> str | None:
    """Return what an expression matches first in a text; None when it matches nothing.

    Raises:
        TooSlow: it was not known in time.
    """
    try:
        match = _compiled(pattern, ignore_case).search(text, timeout=SECONDS, concurrent=True)
    except TimeoutError:
        raise TooSlow(f"the expression took longer than {SECONDS:g} s") from None
    return None if match is None else str(match[0])


@lru_cache(maxsize=4096)
def _compiled(pattern: str, ignore_case: bool) -> "regex.Pattern[str]":
    return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0, cache_pattern=False)
