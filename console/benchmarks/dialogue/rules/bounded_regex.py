"""Regular expressions from suites, searched with a time limit.

The syntax is that of the package `regex`, a superset of Python's, without recursion, which has no stack limit.
"""

import re
from functools import lru_cache

import regex

from console.benchmarks.dialogue.rules.quick_checks import MOST_REPEATED, written_out

SECONDS = 1.0
"""Time limit of one search, in seconds."""
_LONGEST = 10_000
"""Maximum number of characters in an expression."""
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CALL = re.compile(r"\(\?(?:R|[-+]?[0-9]+|&\w*|P>\w*)")
"""A part that calls the whole expression or one of its groups."""


class TooSlow(Exception):
    """A search took longer than `SECONDS`."""


def problem_of(pattern: str) -> str:
    """Return the error in a regular expression, or an empty string."""
    if len(pattern) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters"
    if written_out(pattern) > MOST_REPEATED:
        return f"its counted repetitions come to more than {MOST_REPEATED:,} parts"
    if call := _CALL.search(_ESCAPED.sub("", pattern)):
        return f"recursion such as {call[0]}) is not supported"
    try:
        _compiled(pattern, False)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return " ".join(str(error).split())[:200]
    return ""


def search(pattern: str, text: str, *, ignore_case: bool = False) -> str | None:
    """Return the first match in a text, or None.

    Raises:
        TooSlow: the search timed out.
    """
    try:
        match = _compiled(pattern, ignore_case).search(text, timeout=SECONDS, concurrent=True)
    except TimeoutError:
        raise TooSlow(f"the expression took longer than {SECONDS:g} s") from None
    return None if match is None else str(match[0])


@lru_cache(maxsize=4096)
def _compiled(pattern: str, ignore_case: bool) -> "regex.Pattern[str]":
    return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0, cache_pattern=False)
