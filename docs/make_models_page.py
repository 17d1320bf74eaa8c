"""Update the tables of docs/models.md from the types: `python docs/make_models_page.py`.

A test compares the page with these tables. A row's meaning is the docstring of the field; the default is the part after
`Default:`, or else the value in the code.
"""

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from console.config import table
from console.config.known_servers import KNOWN_SERVERS, KnownServer
from console.config.model import Limits, ModelConfig
from console.core.price import Price

PAGE = Path(__file__).resolve().parent / "models.md"
_TYPES = {"Keys": ModelConfig, "Prices": Price, "Limits": Limits}


def page(text: str) -> str:
    """Return the page with new tables."""
    for heading, type_ in _TYPES.items():
        text = _replaced(text, heading, _table(type_))
    return _replaced(text, "Servers", _servers())


def _replaced(text: str, name: str, rows: str) -> str:
    begin, end = f"<!-- {name}: python docs/make_models_page.py -->\n", f"<!-- end of {name} -->\n"
    before, rest = text.split(begin)
    return before + begin + rows + end + rest.split(end)[1]


def _table(type_: type[ModelConfig | Price | Limits]) -> str:
    words = _docstrings(type_)
    encoded = zip(type_.__struct_fields__, type_.__struct_encode_fields__, strict=True)
    defaults = _defaults(type_)
    rows = [
        f"| `{key}` | {meaning} | {default or defaults[field]} |\n"
        for field, key in encoded
        if type_ is not ModelConfig or field in table._KEYS
        for meaning, default in [words[field]]
    ]
    return "| key | meaning | default |\n|---|---|---|\n" + "".join(rows)


def _docstrings(type_: type) -> dict[str, tuple[str, str]]:
    """Return meaning and default in words of each field."""
    fields: list[ast.stmt] = []
    for base in type_.__mro__[::-1]:
        if base.__module__.startswith("console."):
            fields += cast(ast.ClassDef, ast.parse(inspect.getsource(base)).body[0]).body
    found: dict[str, tuple[str, str]] = {}
    for field, text in pairwise(fields):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            words = re.sub(r"\s+", " ", str(text.value.value))
            meaning, _, default = words.partition(" Default: ")
            found[ast.unparse(field.target)] = (meaning.rstrip("."), default.rstrip("."))
    return found


def _defaults(type_: type[ModelConfig | Price | Limits]) -> dict[str, str]:
    """Return the default of each field as the file has it."""
    # Required fields have no default, so the defaults belong to the last fields.
    required: dict[str, Any] = {"name": "", "model_id": "x"} if type_ is ModelConfig else {}
    values = type_(**required)
    return {field: _shown(getattr(values, field)) for field in type_.__struct_fields__}


def _shown(value: object) -> str:
    match value:
        case str() if value:
            return f'`"{value}"`'
        case int() | float():
            return f"{value:g}"
        case Limits():
            return "see below"
        case _:
            return "none"


def _servers() -> str:
    rows = [
        f"| {server.title} | {_recipe(server)} | "
        f"{f'`{server.key_variable}`' if server.key_variable else 'none'} | {server.needs or '–'} |\n"
        for server in KNOWN_SERVERS
    ]
    return "| server | keys of its models | variable of the key | needs |\n|---|---|---|---|\n" + "".join(rows)


def _recipe(server: KnownServer) -> str:
    if server.needs_address:
        return "`base_url` of your server"
    keys = [f'`provider = "{server.provider}"`'] * (server.provider != "openai")
    keys += [f'`base_url = "{server.address}"`'] * bool(server.address)
    keys += [f'`model_id = "{server.id_prefix}…"`'] * bool(server.id_prefix)
    return ", ".join(keys) or "none"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
