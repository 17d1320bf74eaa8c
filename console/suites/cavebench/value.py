"""When two values count as equal and when a value fits a type name, as cave-bench decides it.

Pure. Values that JSON cannot carry cross from the worker as `Foreign`, with their texts worked out where they lived;
values whose text cannot be worked out (infinities, mixed dictionary keys) raise `EvaluatorError`, where the reference
evaluator ends its run.
"""

from dataclasses import dataclass
from typing import Any, Literal

TypeRule = Literal["compatible", "exact"]
"""`compatible`: int and float interchange and numeric text fits both (January 2026 on). `exact`: class name only."""


class EvaluatorError(Exception):
    """An expectation or a value that cannot be judged; the text says which and why."""


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

    Raises:
        EvaluatorError: infinities, not-a-number, or dictionary keys that cannot be ordered.
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
    if isinstance(value, list):
        return str([canonical(item) for item in value])  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return _canonical_dict(value)  # pyright: ignore[reportUnknownArgumentType]
    return str(value)


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


def _canonical_dict(value: dict[Any, Any]) -> str:
    try:
        keys = sorted(value)
    except TypeError as error:
        raise EvaluatorError(str(error)) from None
    return str({key if isinstance(key, str) else canonical(key): canonical(value[key]) for key in keys})


def _is_numeric(text: str) -> bool:
    """Whether float() accepts a text, such as "1e3", " 1 " or "nan"."""
    try:
        float(text)
    except ValueError:
        return False
    return True
