"""Serialization of TOML values and keys."""

import json
import re
from typing import Any, cast

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """Return a value as TOML on one line; table entries that are None are omitted."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list():
            return f"[{', '.join(toml_value(item) for item in cast('list[Any]', value))}]"
        case dict():
            inner = [
                f"{toml_key(key)} = {toml_value(item)}"
                for key, item in cast("dict[str, Any]", value).items()
                if item is not None
            ]
            return f"{{ {', '.join(inner)} }}" if inner else "{}"
        case _:
            return _text(str(value))


def toml_key(name: str) -> str:
    """Return a key as TOML, quoted if necessary."""
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """Return a TOML string; the escapes are those of JSON, but DEL is escaped and lone surrogates are replaced."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
