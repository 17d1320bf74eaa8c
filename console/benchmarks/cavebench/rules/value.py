"""When two values count as equal and when a value fits a type name, as cave-bench decides it.

Pure. Values that JSON cannot carry cross from the worker as `Foreign`, with their texts worked out where they lived;
values whose text cannot be worked out (infinities, mixed dictionary keys) raise `EvaluatorError`, where the reference
evaluator ends its run.
"""

from dataclasses import dataclass
from typing import Any, Literal, cast

TypeRule = Literal["compatible", "exact"]
"""`compatible`: int and float interchange and numeric text fits both (January 2026 on). `exact`: class name only."""


DEEPEST = 100
"""Levels of nesting that can be compared; no official value has five."""
_LONGEST = 1_000_000
"""Characters of a canonical text that is written out."""
_SPELLED = 20_000
"""Longest text that may spell out a list or dictionary and so equal it."""


class EvaluatorError(Exception):
    """An expectation or a value that cannot be judged; the text says which and why."""


class TooLong(Exception):
    """A canonical text is longer than was asked for."""


@dataclass(frozen=True, slots=True)
class _Items:
    """A list, to be compared."""

    values: "tuple[Comparable, ...]"


@dataclass(frozen=True, slots=True)
class _Fields:
    """A dictionary, to be compared; its keys in their order."""

    names: tuple[str, ...]
    values: "tuple[Comparable, ...]"


Comparable = str | _Items | _Fields
"""What of a value is compared: a text, or the parts whose texts its own is made of."""


@dataclass(frozen=True, slots=True, repr=False)
class Foreign:
    """A Python value that stayed in the worker: what is known of it is text."""

    type_name: str
    """Class name, as the type rule compares it."""
    text: str
    """str() of the value, as messages show it."""
    representation: str
    canonical: str = ""
    """Canonical text, as the value rule compares it."""
    error: str = ""
    """Why there is no canonical text."""

    def __str__(self) -> str:
        """Show the value as str() showed it."""
        return self.text

    def __repr__(self) -> str:
        """Show the value as repr() showed it."""
        return self.representation


def canonical(value: Any) -> str:
    """Return the text by which values are compared: 5, 5.0 and "5" are one, True and 1 are not.

    Each level of nesting writes the text below it with quotes and escapes, so it doubles with every level.

    Raises:
        EvaluatorError: as `comparable`; or the text is longer than `_LONGEST`.
    """
    try:
        return text_of(comparable(value), _LONGEST)
    except TooLong:
        raise EvaluatorError(f"its text to compare is longer than {_LONGEST:,} characters") from None


def comparable(value: Any, depth: int = 0) -> Comparable:
    """Return what of a value is compared, in memory and time that grow with its size.

    Raises:
        EvaluatorError: infinities, not-a-number, dictionary keys that cannot be ordered, or more than `DEEPEST` levels.
    """
    if isinstance(value, Foreign):
        if value.error:
            raise EvaluatorError(value.error)
        return value.canonical
    if value is None:
        return "None"
    if isinstance(value, float):
        return _canonical_float(value)
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, (list, dict)):
        return str(value)
    if depth >= DEEPEST:
        raise EvaluatorError(f"it is nested more than {DEEPEST} levels deep")
    if isinstance(value, list):
        return _Items(tuple(comparable(item, depth + 1) for item in cast("list[Any]", value)))
    return _comparable_dict(cast("dict[Any, Any]", value), depth + 1)


def is_same(left: Comparable, right: Comparable) -> bool:
    """Whether two values have one canonical text, found out without writing it.

    Python's form of a list or dict of texts tells every text in it, so equal texts mean equal parts. A value that is a
    text itself may spell out a list; that is looked at up to `_SPELLED` characters.
    """
    if isinstance(left, str):
        return left == right if isinstance(right, str) else _spells(left, right)
    if isinstance(right, str):
        return _spells(right, left)
    if isinstance(left, _Fields):
        return isinstance(right, _Fields) and left.names == right.names and _are_same(left.values, right.values)
    return isinstance(right, _Items) and _are_same(left.values, right.values)


def text_of(value: Comparable, longest: int) -> str:
    """Return the canonical text of what `comparable` returned.

    Raises:
        TooLong: it has more than `longest` characters.
    """
    if isinstance(value, str):
        if len(value) > longest:
            raise TooLong
        return value
    parts: list[str] = []
    length = 2
    heads = [f"{name!r}: " for name in value.names] if isinstance(value, _Fields) else [""] * len(value.values)
    for head, part in zip(heads, value.values, strict=True):
        parts.append(head + repr(text_of(part, longest)))
        length += len(parts[-1]) + 2 * (len(parts) > 1)
        if length > longest:
            raise TooLong
    inner = ", ".join(parts)
    return f"{{{inner}}}" if isinstance(value, _Fields) else f"[{inner}]"


def _are_same(left: tuple[Comparable, ...], right: tuple[Comparable, ...]) -> bool:
    return len(left) == len(right) and all(map(is_same, left, right))


def _spells(text: str, value: Comparable) -> bool:
    if len(text) > _SPELLED or text[:1] not in ("[", "{"):
        return False
    try:
        return text_of(value, len(text)) == text
    except TooLong:
        return False


def fits(value: Any, type_name: str, rule: TypeRule = "compatible") -> bool:
    """Whether a value fits a Python type name; `number`, `string` and `any` are no type names and never fit."""
    actual = type_name_of(value)
    if actual == type_name:
        return True
    if rule == "exact" or type_name not in ("int", "float"):
        return False
    return actual in ("int", "float") or (type(value) is str and _is_numeric(value))


def type_name_of(value: Any) -> str:
    """Return the class name the type rule compares."""
    return value.type_name if isinstance(value, Foreign) else type(value).__name__


def _canonical_float(value: float) -> str:
    try:
        whole = int(value)
    except (OverflowError, ValueError) as error:
        raise EvaluatorError(str(error)) from None
    return str(whole) if value == whole else f"{value:.6g}"


def _comparable_dict(value: dict[Any, Any], depth: int) -> "_Fields":
    try:
        keys = sorted(value)
    except TypeError as error:
        raise EvaluatorError(str(error)) from None
    fields = {key if isinstance(key, str) else canonical(key): comparable(value[key], depth) for key in keys}
    return _Fields(tuple(fields), tuple(fields.values()))


def _is_numeric(text: str) -> bool:
    """Whether float() accepts a text, such as "1e3", " 1 " or "nan"."""
    try:
        float(text)
    except ValueError:
        return False
    return True
