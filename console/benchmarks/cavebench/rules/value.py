"""Equality of values, and whether a value fits a type name, as cave-bench decides them.

Values that JSON cannot store leave the worker as `Foreign`, with texts computed inside it; values without a text
(infinities, mixed dictionary keys) raise `EvaluatorError`, where the reference evaluator crashes.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, cast

TypeRule = Literal["compatible", "exact"]
"""`compatible`: int and float are interchangeable and numeric strings fit both (since January 2026). `exact`: class
name only.
"""


DEEPEST = 100
"""Maximum nesting of comparable values; no official value has five levels."""
_LONGEST = 1_000_000
"""Maximum number of characters in a canonical text."""
_SPELLED = 20_000
"""Maximum length of a string that is compared with the text of a list or dictionary."""


class EvaluatorError(Exception):
    """An expectation or a value that cannot be judged; the message says which and why."""


class TooLong(Exception):
    """A canonical text exceeds the requested length."""


@dataclass(frozen=True, slots=True)
class _Items:
    """A comparable list."""

    values: "tuple[Comparable, ...]"


@dataclass(frozen=True, slots=True)
class _Fields:
    """A comparable dictionary, with its keys in order."""

    names: tuple[str, ...]
    values: "tuple[Comparable, ...]"


Comparable = str | _Items | _Fields
"""The comparable form of a value: a text, or parts with texts."""


@dataclass(frozen=True, slots=True, repr=False)
class Foreign:
    """A Python value that stayed in the worker, represented by texts."""

    type_name: str
    """Class name, for the type rule."""
    text: str
    """str() of the value, for messages."""
    representation: str
    canonical: str = ""
    """Canonical text, for the value rule."""
    error: str = ""
    """Reason why there is no canonical text."""
    shown: Any = field(default=None, compare=False)
    """The parts of a subclass of list or dict, as they are written to result files."""

    def __str__(self) -> str:
        """Return the text of `str()` in the worker."""
        return self.text

    def __repr__(self) -> str:
        """Return the text of `repr()` in the worker."""
        return self.representation


def canonical(value: Any) -> str:
    """Return the text by which values are compared: 5, 5.0 and "5" are equal, True and 1 are not.

    Each level of nesting escapes the text below it, so the length doubles with every level.

    Raises:
        EvaluatorError: as `comparable`; or the text is longer than `_LONGEST`.
    """
    try:
        return text_of(comparable(value), _LONGEST)
    except TooLong:
        raise EvaluatorError(f"its text to compare is longer than {_LONGEST:,} characters") from None


def comparable(value: Any, depth: int = 0) -> Comparable:
    """Return the comparable form of a value, using memory and time proportional to its size.

    Raises:
        EvaluatorError: infinities, nan, dictionary keys without an order, or more than `DEEPEST` levels.
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
    """Return True if two values have the same canonical text, without building it.

    Python's representation of a list or dict is unambiguous, so equal texts mean equal parts. A string may equal the
    text of a list; this is checked up to `_SPELLED` characters.
    """
    if isinstance(left, str):
        return left == right if isinstance(right, str) else _spells(left, right)
    if isinstance(right, str):
        return _spells(right, left)
    if isinstance(left, _Fields):
        return isinstance(right, _Fields) and left.names == right.names and _are_same(left.values, right.values)
    return isinstance(right, _Items) and _are_same(left.values, right.values)


def text_of(value: Comparable, longest: int) -> str:
    """Return the canonical text of a comparable form.

    Raises:
        TooLong: it exceeds `longest` characters.
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
    """Return True if a value fits a Python type name; `number`, `string` and `any` are not type names."""
    actual = type_name_of(value)
    if actual == type_name:
        return True
    if rule == "exact" or type_name not in ("int", "float"):
        return False
    return actual in ("int", "float") or (type(value) is str and _is_numeric(value))


def type_name_of(value: Any) -> str:
    """Return the class name for the type rule."""
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
    """Return True if float() accepts a text, such as "1e3", " 1 " or "nan"."""
    try:
        float(text)
    except ValueError:
        return False
    return True
