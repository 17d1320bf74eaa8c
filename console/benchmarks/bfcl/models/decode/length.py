"""How long a reply may be to be decoded. Python's parser takes about 600 bytes of memory for a character.

The longest output of the official cases has 7,000 characters; a model that was cut at 32,000 tokens wrote some 130,000.
"""

from typing import Any, cast

LONGEST = 200_000
"""Characters of a reply, of native calls those of all their names, texts and arguments; a longer one is undecodable."""


_LONG = 20_000
"""Characters from which on decoding may take longer than an event loop should wait."""


class TooLong(Exception):
    """A reply longer than what is decoded."""


def refuse_too_long(output: Any) -> None:
    """Refuse an output that is too long, in whatever form it was recorded.

    Raises:
        TooLong: it is.
    """
    if _size(output, LONGEST) > LONGEST:
        raise TooLong(f"a reply of more than {LONGEST:,} characters is not decoded")


def is_long(output: Any) -> bool:
    """Whether decoding an output belongs beside an event loop."""
    return _size(output, _LONG) > _LONG


def _size(value: Any, limit: int) -> int:
    """Return the characters of all texts and one for every other part; counting stops above the limit."""
    total, waiting = 0, [value]
    while waiting and total <= limit:
        part = waiting.pop()
        total += len(part) if isinstance(part, str) else 1
        if isinstance(part, dict):
            waiting += [item for pair in cast(dict[Any, Any], part).items() for item in pair]
        elif isinstance(part, list):
            waiting += cast(list[Any], part)
    return total
