"""Templates in suite.toml and in prompt variants: `{name}` is replaced by a column of the row.

Texts of rows are not templates. `{{name}}` is a literal `{name}`; other braces, as in JSON, are unchanged.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_VARIABLE = re.compile(r"\{\{([^\W\d][\w -]*)\}\}|\{([^\W\d][\w -]*)\}")


JUDGED = frozenset({"conversation", "answer", "criteria"})
"""Placeholders in a judge's `wording`, where they never refer to columns."""


def variables_in(value: Any) -> Iterator[str]:
    """Yield the names of the variables in a string, list or table."""
    if isinstance(value, str):
        yield from (match[2] for match in _VARIABLE.finditer(value) if match[2])
    elif isinstance(value, dict):
        for key, part in cast(dict[str, Any], value).items():
            yield from (name for name in variables_in(part) if key != "wording" or name not in (*JUDGED, "reference"))
    elif isinstance(value, list):
        for part in cast(list[Any], value):
            yield from variables_in(part)


def fill(value: Any, columns: Mapping[str, Any]) -> Any:
    """Replace the variables in a string, list or table; unknown names stay unchanged.

    A string that consists of one variable becomes the column's value, of any type.
    """
    if isinstance(value, str):
        return _fill_text(value, columns)
    if isinstance(value, dict):
        return {key: _fill_part(key, part, columns) for key, part in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [fill(part, columns) for part in cast(list[Any], value)]
    return value


def _fill_part(key: str, part: Any, columns: Mapping[str, Any]) -> Any:
    if key == "wording":
        columns = {name: value for name, value in columns.items() if name not in JUDGED}
    return fill(part, columns)


def _fill_text(text: str, columns: Mapping[str, Any]) -> Any:
    whole = _VARIABLE.fullmatch(text)
    if whole is not None and whole[2] in columns:
        return columns[whole[2]]
    return _VARIABLE.sub(lambda match: _replacement(match, columns), text)


def _replacement(match: re.Match[str], columns: Mapping[str, Any]) -> str:
    if match[1]:
        return f"{{{match[1]}}}"
    if match[2] not in columns:
        return match[0]
    value = columns[match[2]]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
