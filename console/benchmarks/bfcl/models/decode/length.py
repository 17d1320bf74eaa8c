"""Length limits for decoding, as Python's parser needs about 600 bytes of memory per character.

The longest official output has 7,000 characters; 32,000 tokens are about 130,000 characters.
"""

from typing import Any, cast

LONGEST = 200_000
"""Maximum number of characters in a reply, including all strings of native calls; longer ones are undecodable."""


_LONG = 20_000
"""Minimum number of characters of a reply to decode in a thread."""


class TooLong(Exception):
    """A reply is too long to decode."""


def refuse_too_long(output: Any) -> None:
    """Check the length of an output in any format.

    Raises:
        TooLong: too long.
    """
    if _size(output, LONGEST) > LONGEST:
        raise TooLong(f"a reply of more than {LONGEST:,} characters is not decoded")


def is_long(output: Any) -> bool:
    """Return whether an output should be decoded in a thread."""
    return _size(output, _LONG) > _LONG


def _size(value: Any, limit: int) -> int:
    """Return the characters of all strings plus one per other value, counting up to the limit."""
    total, waiting = 0, [value]
    while waiting and total <= limit:
        part = waiting.pop()
        total += len(part) if isinstance(part, str) else 1
        if isinstance(part, dict):
            waiting += [item for pair in cast(dict[Any, Any], part).items() for item in pair]
        elif isinstance(part, list):
            waiting += cast(list[Any], part)
    return total
