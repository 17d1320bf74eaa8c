"""Writing values and keys of TOML."""

import json
import re
from typing import Any, cast

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """Return a value as TOML, on one line; entries of tables that are None are left out."""
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
    """Return a key as TOML, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """Return a TOML string; its escapes are those of JSON, except that DEL must be escaped and surrogates cannot be."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
