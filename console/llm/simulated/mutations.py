"""Mutations of correct function calls: the usual mistakes of models."""

from collections.abc import Callable
from random import Random
from typing import Any

Call = tuple[str, dict[str, Any]]
Mutation = Callable[[str, dict[str, Any], Random], Call]


def mutate_calls(calls: tuple[Call, ...], rng: Random) -> tuple[Call, ...]:
    """Return the calls with one mistake added.

    Raises:
        ValueError: no calls.
    """
    if not calls:
        raise ValueError("no call to mutate")
    if len(calls) > 1 and rng.random() < 0.25:
        lost = rng.randrange(len(calls))
        return calls[:lost] + calls[lost + 1 :]
    if rng.random() < 0.08:
        return (*calls, calls[len(calls) - 1])
    at = rng.randrange(len(calls))
    name, arguments = calls[at]
    wrong = rng.choice(_MUTATIONS if arguments else (_add_argument, _rename_function))(name, dict(arguments), rng)
    return (*calls[:at], wrong, *calls[at + 1 :])


def _change_value(name: str, arguments: dict[str, Any], rng: Random) -> Call:
    key = rng.choice(sorted(arguments))
    arguments[key] = _other_value(arguments[key], rng)
    return name, arguments


def _other_value(value: Any, rng: Random) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1, 10))
        case float():
            return round(value * rng.choice((0.1, 10.0)) + 1.0, 4)
        case str():
            return f"{value} city" if " " not in value else value.split(" ")[0]
        case [*items]:
            return items[:-1] if len(items) > 1 else [*items, *items]
        case dict():
            return {}
        case _:
            return "unknown"


def _change_type(name: str, arguments: dict[str, Any], rng: Random) -> Call:
    key = rng.choice(sorted(arguments))
    value = arguments[key]
    arguments[key] = [value] if isinstance(value, str) else str(value)
    return name, arguments


def _drop_argument(name: str, arguments: dict[str, Any], rng: Random) -> Call:
    del arguments[rng.choice(sorted(arguments))]
    return name, arguments


def _add_argument(name: str, arguments: dict[str, Any], rng: Random) -> Call:
    arguments[rng.choice(("verbose", "format", "language", "limit"))] = rng.choice((True, "json", "en", 5))
    return name, arguments


def _rename_function(name: str, arguments: dict[str, Any], rng: Random) -> Call:
    return rng.choice((f"{name}_v2", f"get_{name}", name.replace("_", "") + "s")), arguments


_MUTATIONS: tuple[Mutation, ...] = (
    _change_value,
    _change_value,
    _change_value,
    _change_type,
    _change_type,
    _drop_argument,
    _add_argument,
    _rename_function,
)
"""Mutations, weighted by repetition: the more common mistakes of real models occur several times."""
