"""Expectations of a turn: calls with their arguments, and variables read and written.

The scenario's JSON is read strictly where the reference evaluator would crash (unknown argument keys, values that are
not objects); what it ignores is ignored (unknown keys of turns and calls).
"""

from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.cavebench.rules.value import EvaluatorError

_ARGUMENT_KEYS = ("name", "value", "type", "required")


@dataclass(frozen=True, slots=True)
class ExpectedArgument:
    """One argument of an expected call."""

    name: str
    value: Any = None
    """Expected value; None for any value."""
    type: str | None = None
    """Python class name; None for any type."""
    required: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the peer's format, without unset fields."""
        out: dict[str, Any] = {"name": self.name, "required": self.required}
        if self.value is not None:
            out["value"] = self.value
        if self.type is not None:
            out["type"] = self.type
        return out


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """An expected call."""

    name: str
    arguments: tuple[ExpectedArgument, ...] = ()
    required: bool = True
    strict_args: bool = False
    """True if unlisted arguments are errors."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "required": self.required,
            "arguments": [argument.as_json() for argument in self.arguments],
            "strict_args": self.strict_args,
        }


@dataclass(frozen=True, slots=True)
class Expectation:
    """All expectations of a turn."""

    calls: tuple[ExpectedCall, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def read_expectation(turn: dict[str, Any]) -> Expectation:
    """Read the expectations of a scenario's turn.

    Raises:
        EvaluatorError: something missing, unknown or of the wrong type.
    """
    calls = _items(turn.get("expected_function_calls", []), "expected_function_calls")
    return Expectation(
        calls=tuple(_read_call(call) for call in calls),
        reads=_names(turn, "expected_variable_reads"),
        writes=_names(turn, "expected_variable_writes"),
    )


def read_argument(data: Any) -> ExpectedArgument:
    """Read one expected argument.

    Raises:
        EvaluatorError: not an object, no name, or an unknown key.
    """
    if not isinstance(data, dict):
        raise EvaluatorError(f"expected argument {data!r} is not an object")
    fields = cast("dict[str, Any]", data)
    unknown = [key for key in fields if key not in _ARGUMENT_KEYS]
    if unknown:
        raise EvaluatorError(f"expected argument has an unknown key {unknown[0]!r}")
    if "name" not in fields:
        raise EvaluatorError("expected argument has no name")
    return ExpectedArgument(**fields)


def _read_call(data: Any) -> ExpectedCall:
    if not isinstance(data, dict):
        raise EvaluatorError(f"expected call {data!r} is not an object")
    call = cast("dict[str, Any]", data)
    if "name" not in call:
        raise EvaluatorError("expected call has no name")
    return ExpectedCall(
        name=call["name"],
        arguments=tuple(read_argument(item) for item in _items(call.get("arguments", []), "arguments")),
        required=call.get("required", True),
        strict_args=call.get("strict_args", False),
    )


def _items(data: Any, field: str) -> list[Any]:
    if not isinstance(data, (list, dict, str)):
        raise EvaluatorError(f"{field} is {type(data).__name__}, not a list")
    return list(data)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]


def _names(turn: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_items(turn.get(key, []), key))
