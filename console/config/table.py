"""From a table of models.toml to a ModelConfig, or to mistakes that name line, key, and the key that was meant."""

from typing import Any, cast

from pydantic import ValidationError

from console.config.model import Limits, ModelConfig
from console.config.toml import TomlFile
from console.core.nearest import nearest

_KEYS = tuple(name for name in ModelConfig.model_fields if name not in ("name", "line", "data"))
_KEYS_WITHIN = {"price": ("in", "out", "cached"), "limits": tuple(Limits.model_fields)}
_ALIASES = {"model": "model_id", "url": "base_url", "key": "api_key_env", "timeout": "limits", "tools": "mode"}
_ENDPOINT_KEYS = ("endpoint_id", "model", "url", "api_base_url", "key", "api_key_var", "type", "api_client_type")
_ENDPOINT_TYPES = ("openai_chat_completions", "openai_chat_completions_token")


def read_table(file: TomlFile, name: str, table: object) -> ModelConfig | None:
    """Return the model of `[name]`; None after noting what is wrong with it."""
    if not isinstance(table, dict):
        line, column = file.place(name)
        file.mistake(f"{name!r} stands outside of any table", line, column, "Begin every model with its name: [name].")
        return None
    entries = cast(dict[str, Any], table)
    line, column = file.place(name)
    inner = [key for key, value in entries.items() if isinstance(value, dict) and key not in ModelConfig.model_fields]
    if inner and "model_id" not in entries:
        _note_nesting(file, name, inner[0])
        return None
    unknown = [key for key in entries if key not in _KEYS]
    for key in unknown:
        _note_unknown(file, name, (name, key), _KEYS)
    if unknown:
        return None
    if "model_id" not in entries:
        file.mistake(f"[{name}] has no model_id", line, column, 'Add what the provider calls it: model_id = "…".')
        return None
    return _build(file, name, (name,), entries, line)


def read_endpoint(file: TomlFile, index: int, table: dict[str, Any]) -> ModelConfig | None:
    """Return the model of a `[[endpoint]]` table as verifiers writes it (`key` names an environment variable)."""
    place = ("endpoint", str(index))
    line, column = file.place(*place)
    name = table.get("endpoint_id")
    if not isinstance(name, str) or not name or not isinstance(table.get("model"), str):
        file.mistake("[[endpoint]] needs endpoint_id and model, both texts", line, column)
        return None
    for key in table:
        if key not in (*_ENDPOINT_KEYS, "headers", "extra_headers"):
            _note_unknown(file, name, (*place, key), _ENDPOINT_KEYS)
            return None
    kind = table.get("type", table.get("api_client_type", _ENDPOINT_TYPES[0]))
    if kind not in _ENDPOINT_TYPES:
        file.mistake(f"[{name}] cannot be reached as {kind!r}", *file.place(*place, "type"), _ENDPOINT_TYPE_CURE)
        return None
    entries = {
        "model_id": table["model"],
        "base_url": table.get("url", table.get("api_base_url")),
        "api_key_env": table.get("key", table.get("api_key_var")),
        "headers": table.get("headers", table.get("extra_headers", {})),
    }
    return _build(file, name, place, {key: value for key, value in entries.items() if value is not None}, line)


_ENDPOINT_TYPE_CURE = f"Only {_ENDPOINT_TYPES[0]} can be asked."


def _build(file: TomlFile, name: str, place: tuple[str, ...], entries: dict[str, Any], line: int) -> ModelConfig | None:
    values = {**entries, "name": name, "line": line}
    try:
        return ModelConfig.model_validate(values)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            keys = tuple(str(part) for part in detail["loc"])
            if detail["type"] == "extra_forbidden":
                _note_unknown(file, name, (*place, *keys), _KEYS_WITHIN.get(keys[0], _KEYS))
            else:
                where = file.place(*place, *keys)
                file.mistake(f"[{name}] {_said(keys, detail['msg'])}", *where, _cure(keys))
        return None


def _note_unknown(file: TomlFile, name: str, keys: tuple[str, ...], known: tuple[str, ...]) -> None:
    meant = _ALIASES.get(keys[-1])
    meant = meant if meant in known else nearest(keys[-1], known)
    cure = f"Did you mean {meant}?" if meant else f"Known keys: {', '.join(known)}."
    if known is _KEYS and not meant:
        cure += " What the provider should get belongs into params."
    file.mistake(f"[{name}] has an unknown key {keys[-1]!r}", *file.place(*keys), cure)


def _note_nesting(file: TomlFile, name: str, inner: str) -> None:
    """A dot in a bare table name nests tables: `[gpt-4.1]` is table 1 inside table gpt-4."""
    line, column = file.place(name, inner)
    cure = f"Write [{inner}] instead." if name == "models" else f'Put the name in quotes: ["{name}.{inner}"].'
    file.mistake(f"[{name}.{inner}] is read as table {inner!r} inside of [{name}]", line, column, cure)


def _said(keys: tuple[str, ...], message: str) -> str:
    message = message.removeprefix("Value error, ")
    return f"{'.'.join(keys)}: {message[:1].lower() + message[1:]}" if keys else message


def _cure(keys: tuple[str, ...]) -> str:
    return _CURES.get(keys[0], "") if keys else "Keep one of the two, better api_key_env."


_CURES = {
    "provider": 'One of "openai", "litellm", "simulated", "local".',
    "mode": '"fc" for native tools, "prompt" for tools described in the prompt.',
    "price": "price = { in = 0.15, out = 0.60 } in USD per million tokens.",
    "limits": f"limits = {{ … }} with {', '.join(Limits.model_fields)}.",
    "params": "params = { top_p = 0.9 } is passed on as it stands.",
    "headers": 'headers = { "X-Title" = "text" }, all values in quotes.',
    "temperature": "temperature = 0.0 is a number from 0.",
    "max_tokens": "max_tokens = 4096 is a whole number from 1.",
}
