"""Validation of a suite's options, for values that may come from a file or from another program."""

from collections.abc import Mapping, Sequence
from typing import Any

from console.core.fault import UsageError
from console.core.ranges import LARGEST_COUNT
from console.core.suggestion import suggest
from console.suites.suite import Option

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "text": (str,),
    "choice": (str,),
    "json": (object,),
}


def check_options(options: Sequence[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a planned run, with defaults filled in.

    Raises:
        UsageError: an unknown option (names the nearest), or a value of the wrong kind.
    """
    names = sorted(option.name for option in options)
    for name in values:
        if name not in names:
            hint = suggest(name, names, f"Known options: {', '.join(names) or 'none'}.")
            raise UsageError(f"unknown option {name!r}", where="--option", hint=hint)
    return read_values(options, values)


def read_values(
    options: Sequence[Option], values: Mapping[str, Any], bounds: Mapping[str, tuple[float, float | None]] | None = None
) -> dict[str, Any]:
    """Return the value of each option, or its default if none is given; other names are ignored.

    Args:
        options: the suite's options.
        values: values by name.
        bounds: minimum and maximum values of numbers, by name.

    Raises:
        UsageError: a value of another kind, out of bounds, or none of the choices.
    """
    bounds = bounds or {}
    return {option.name: _checked(option, values.get(option.name), *bounds.get(option.name, ())) for option in options}


def _checked(option: Option, value: Any, least: float | None = None, most: float | None = None) -> Any:
    if value is None:
        return option.default
    kinds = _KINDS[option.kind]
    if not isinstance(value, kinds) or (isinstance(value, bool) and not {bool, object} & {*kinds}):
        raise UsageError(f"must be of type {option.kind}, not {value!r}", where=option.name)
    if isinstance(value, int | float) and not abs(value) <= LARGEST_COUNT:
        raise UsageError("must be a number between -2^53 and 2^53", where=option.name)
    if least is not None and (value < least or (most is not None and value > most)):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"must be {wanted}, not {value!r}", where=option.name)
    if option.choices and value not in option.choices:
        hint = suggest(str(value), option.choices, f"One of: {', '.join(option.choices)}.")
        raise UsageError(f"cannot be {value!r}", where=option.name, hint=hint)
    return value
