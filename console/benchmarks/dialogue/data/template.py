"""Variables in the texts of suite.toml and in prompt variants: `{name}` stands for a column of the row.

Texts of rows are never templates, so braces in somebody's questions are braces. `{{name}}` stands for `{name}` itself,
and braces around what is no name, as in JSON, are left alone.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_VARIABLE = re.compile(r"\{\{([^\W\d][\w -]*)\}\}|\{([^\W\d][\w -]*)\}")


JUDGED = frozenset({"conversation", "answer", "criteria"})
"""What a judge's wording stands for with; there these are no columns."""


def variables_in(value: Any) -> Iterator[str]:
    """Yield the names of the variables in a text, or in the texts of a list or table."""
    if isinstance(value, str):
        yield from (match[2] for match in _VARIABLE.finditer(value) if match[2])
    elif isinstance(value, dict):
        for key, part in cast(dict[str, Any], value).items():
            yield from (name for name in variables_in(part) if key != "wording" or name not in JUDGED)
    elif isinstance(value, list):
        for part in cast(list[Any], value):
            yield from variables_in(part)


def fill(value: Any, columns: Mapping[str, Any]) -> Any:
    """Return a text, list or table with the variables replaced; a name that is no column stays as it stands.

    A text that is one variable and nothing else becomes the value of the column, of whatever type that is.
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
