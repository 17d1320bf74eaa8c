"""Size limits of folded values, and guards of operations that could exceed them.

The weight of a value is its printed size: characters, items and digits, counting shared parts at each occurrence.
Multiplying operations are checked before execution, so the cost of an expression is bounded by its length.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, cast

BITS = 200_000
"""Maximum number of bits in an integer; enough for `10**5000`, but not `10**10**10`."""
WEIGHT = 50_000
"""Maximum weight of a value."""
_MODULAR = 4_000
"""Maximum number of bits in a modular power, which takes cubic time."""
_DIGITS = 2_000
"""Maximum number of digits for `round`."""
_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")
"""Too large or dynamic widths in a format string."""
_FIELDS = re.compile(r"(?:[^{}]|\{\{|\}\}|\{\w*\})*")
"""A format string with plain fields only, without attributes, items or padding."""


class Refused(Exception):
    """The expression is not supported."""


def bound(size: int, limit: int = WEIGHT) -> None:
    """Check a size against a limit.

    Raises:
        Refused: the size is above the limit.
    """
    if size > limit:
        raise Refused("the result is too large")


def weight(value: Any) -> int:
    """Return the weight of a value; counting stops above the limit."""
    total, waiting = 0, [value]
    while waiting and total <= WEIGHT:
        part = waiting.pop()
        if isinstance(part, str | bytes):
            total += len(part) + 1
        elif isinstance(part, dict):
            waiting += [item for pair in cast(dict[Any, Any], part).items() for item in pair]
            total += 1
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += cast(Iterable[Any], part)
            total += 1
        else:
            total += 1 + (part.bit_length() // 3 if isinstance(part, int) else 0)
    return total


def guard_power(base: Any, exponent: Any) -> None:
    """Refuse a power of integers that is too large."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        bound(base.bit_length() * max(exponent, 0), BITS)


def guard_shift(value: Any, by: Any) -> None:
    """Refuse a shift that makes an integer too large."""
    if isinstance(value, int) and isinstance(by, int):
        bound(value.bit_length() + max(by, 0), BITS)


def guard_product(left: Any, right: Any) -> None:
    """Refuse a product of integers, or a repetition, that is too large."""
    if isinstance(left, int) and isinstance(right, int):
        bound(left.bit_length() + right.bit_length(), BITS)
        return
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | bytes | list | tuple) and isinstance(times, int):
            bound(weight(cast(object, sequence)) * times)


def guard_sum(left: Any, right: Any) -> None:
    """Refuse a concatenation that is too long."""
    if isinstance(left, str | bytes | list | tuple):
        bound(weight(cast(object, left)) + weight(right))


def guard_format(left: Any, right: Any) -> None:
    """Refuse a format string with too large a width."""
    text = left.decode("latin-1") if isinstance(left, bytes) else left
    if isinstance(text, str):
        if _WIDE.search(text):
            raise Refused("a wide text format")
        bound(len(text) + weight(right) * (text.count("%") + 1))


def guard_widths(how: str) -> None:
    """Refuse a format specification with too large a width."""
    if re.search(r"\d{4}", how):
        raise Refused("a wide text format")


def power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """Return a power of bounded size."""
    if modulus is None:
        guard_power(base, exponent)
    else:
        bound(
            max((number.bit_length() for number in (base, exponent, modulus) if isinstance(number, int)), default=0),
            _MODULAR,
        )
    return cast(Any, pow(base, exponent, modulus))


def bounded_round(number: Any, places: Any = None) -> Any:
    """Return a number rounded to a bounded number of digits."""
    bound(abs(places) if isinstance(places, int) else 0, _DIGITS)
    return round(number, places)


def bounded_sum(items: Iterable[Any], start: Any = 0) -> Any:
    """Return `sum`, bounded: lists are joined pair by pair."""
    listed = list(items)
    if not isinstance(start, int | float):
        bound(len(listed) * weight([start, *listed]))
    return cast(Any, sum(listed, start))


def bounded_range(*numbers: Any) -> range:
    """Return a range of bounded length."""
    bounded = range(*numbers)
    bound(max((bounded[-1] - bounded[0]) // bounded.step, 0) if bounded else 0)
    return bounded


def text_of(value: Any = "") -> str:
    """Return a value as a string; an encoding argument, which could load any module, is not supported."""
    return str(value)


def json_text(value: Any) -> str:
    """Return `json.dumps`."""
    return json.dumps(value)


def guard_method(value: Any, name: str, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Refuse a string method whose result would be too long, or that loads a codec by name."""
    if name in ("encode", "decode") and (arguments or keywords):
        raise Refused("a codec")
    if name == "format":
        _guard_fields(value, weight([*arguments, keywords]))
    rule = _METHODS.get(name)
    if rule is not None and isinstance(value, str | bytes) and arguments:
        rule(value, arguments)


def _guard_fields(text: str, filling: int) -> None:
    if _FIELDS.fullmatch(text) is None:
        raise Refused("a format that is not plain")
    bound(len(text) + text.count("{") * filling)


def _guard_join(separator: Any, arguments: list[Any]) -> None:
    arguments[0] = list(arguments[0])
    bound(weight(arguments[0]) * (len(separator) + 1))


def _guard_padding(_: Any, arguments: list[Any]) -> None:
    bound(arguments[0] if isinstance(arguments[0], int) else 0)


def _guard_replacing(text: Any, arguments: list[Any]) -> None:
    bound((len(text) + 1) * (weight(arguments[1:2]) + 1) if len(arguments) > 1 else 0, 20 * WEIGHT)


_METHODS: dict[str, Callable[[Any, list[Any]], None]] = {
    "join": _guard_join,
    **dict.fromkeys(("center", "ljust", "rjust", "zfill", "expandtabs"), _guard_padding),
    "replace": _guard_replacing,
}
