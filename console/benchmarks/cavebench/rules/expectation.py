"""What a turn expects of the model: calls with their arguments, and variables read and written.

Reads the scenario's JSON strictly where the reference evaluator would crash (unknown argument keys, things that are no
objects), and ignores what it ignores (unknown keys of turns and calls).
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
    """None: any value will do."""
    type: str | None = None
    """Python class name; None: any type will do."""
    required: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the peer's form, without what is not set."""
        out: dict[str, Any] = {"name": self.name, "required": self.required}
        if self.value is not None:
            out["value"] = self.value
        if self.type is not None:
            out["type"] = self.type
        return out


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that a turn expects."""

    name: str
    arguments: tuple[ExpectedArgument, ...] = ()
    required: bool = True
    strict_args: bool = False
    """Whether arguments that are not listed are errors."""

    def as_json(self) -> dict[str, Any]:
        """Return the peer's form."""
        return {
            "name": self.name,
            "required": self.required,
            "arguments": [argument.as_json() for argument in self.arguments],
            "strict_args": self.strict_args,
        }


@dataclass(frozen=True, slots=True)
class Expectation:
    """All that one turn expects."""

    calls: tuple[ExpectedCall, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def read_expectation(turn: dict[str, Any]) -> Expectation:
    """Read the expectations of a scenario's turn.

    Raises:
        EvaluatorError: something is missing, unknown or of the wrong kind.
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
