"""Names of the functions expected by a case and called by an answer, in any suite's format."""

import re
from collections.abc import Mapping
from sys import intern
from typing import Any, cast

_EXPECTED = frozenset({"ground_truth", "expected_function_calls", "calls"})
"""Fields of case data with expected calls."""
_CONTAINERS = frozenset({"conversation", "turns", "expect"})
"""Fields of case data that may contain such fields."""
_WRITTEN = re.compile(r"\s*(?:```\w*\s*)?\[?\s*([A-Za-z_][\w.]*)\(")
"""Pattern of a call as source code, or of the first of several."""
_NEXT = re.compile(r"\)\s*[,;\n]\s*([A-Za-z_][\w.]*)\(")
"""Pattern of a call after another one."""

_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {}
_MOST_KEPT = 10_000


def with_functions(present: tuple[str, ...], names: list[str]) -> tuple[str, ...]:
    """Return distinct names in order, as a tuple shared by all rollouts with the same names."""
    if all(name in present for name in names):
        return present
    distinct = tuple(dict.fromkeys((*present, *names)))
    if len(_NAMES) >= _MOST_KEPT:
        _NAMES.clear()
    return _NAMES.setdefault(distinct, tuple(map(intern, distinct)))


def expected_functions(data: Mapping[str, Any]) -> list[str]:
    """Return the functions that a case expects, from its data."""
    names: list[str] = []
    for field, value in data.items():
        if field in _EXPECTED:
            _add_named(value, names)
        elif field in _CONTAINERS:
            tables = cast("list[Any]", value) if isinstance(value, list) else [value]
            for table in tables:
                if isinstance(table, dict):
                    names += expected_functions(cast("dict[str, Any]", table))
    return names


def answered_functions(decoded: Any, output: Any) -> list[str]:
    """Return the functions called in an answer: those decoded in a verdict, and those in the output."""
    names: list[str] = []
    _add_named(decoded, names)
    if not isinstance(output, dict):
        _add_named(output, names)
    return names


def _add_named(calls: Any, names: list[str]) -> None:
    """Add the functions of calls: `{name: arguments}`, `{"name": …}` or source code, in nested lists."""
    if isinstance(calls, str):
        if match := _WRITTEN.match(calls):
            names.append(match[1])
            names += _NEXT.findall(calls, match.end())
    elif isinstance(calls, list):
        for call in cast("list[Any]", calls):
            _add_named(call, names)
    elif isinstance(calls, dict):
        table = cast("dict[Any, Any]", calls)
        if isinstance(name := table.get("name"), str):
            names.append(name)
        elif len(table) == 1:
            names.append(str(next(iter(table))))
