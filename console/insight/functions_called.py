"""Names of the functions that a case expects and that an answer calls, whatever the suite's format."""

import re
from collections.abc import Iterable, Iterator, Mapping
from sys import intern
from typing import Any, cast

_EXPECTED = frozenset({"ground_truth", "expected_function_calls", "calls"})
"""Fields of case data that hold expected calls."""
_CONTAINERS = frozenset({"conversation", "turns", "expect"})
"""Fields of case data in which such fields may be."""
_WRITTEN = re.compile(r"\s*(?:```\w*\s*)?\[?\s*([A-Za-z_][\w.]*)\(")
"""A call as source code, or the first of several."""
_NEXT = re.compile(r"\)\s*[,;\n]\s*([A-Za-z_][\w.]*)\(")
"""A call after another one."""

_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {}
_MOST_KEPT = 10_000


def with_functions(present: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names in order, as one tuple shared by all rollouts with the same."""
    distinct = tuple(dict.fromkeys((*present, *names)))
    if len(_NAMES) >= _MOST_KEPT:
        _NAMES.clear()
    return _NAMES.setdefault(distinct, tuple(map(intern, distinct)))


def expected_functions(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the functions that a case expects, from its data."""
    for field, value in data.items():
        if field in _EXPECTED:
            yield from named_functions(value)
        elif field in _CONTAINERS:
            tables = cast("list[Any]", value) if isinstance(value, list) else [value]
            for table in tables:
                if isinstance(table, dict):
                    yield from expected_functions(cast("dict[str, Any]", table))


def answered_functions(output: Any) -> Iterator[str]:
    """Yield the functions of the calls in an output, which may be text or calls by turn and step."""
    if isinstance(output, str | list):
        yield from named_functions(cast("Any", output))


def named_functions(calls: Any) -> Iterator[str]:
    """Yield the functions of calls: `{name: arguments}`, `{"name": …}` or source code, in nested lists."""
    if isinstance(calls, str):
        if match := _WRITTEN.match(calls):
            yield match[1]
            yield from _NEXT.findall(calls, match.end())
    elif isinstance(calls, list):
        for call in cast("list[Any]", calls):
            yield from named_functions(call)
    elif isinstance(calls, dict):
        table = cast("dict[Any, Any]", calls)
        if isinstance(name := table.get("name"), str):
            yield name
        elif len(table) == 1:
            yield str(next(iter(table)))
