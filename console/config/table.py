"""Conversion of a table of models.toml to a ModelConfig, or to errors with the line and the likely intended key."""

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_type_hints

import msgspec

from console.config.model import Limits, ModelConfig, Secret
from console.config.toml import TomlFile
from console.core.price import LongRates, Price, TierRates, is_standard
from console.core.provider import PROVIDERS
from console.core.ready_type import ready_type
from console.core.suggestion import nearest

_FIELDS = ModelConfig.__struct_fields__
NOT_IN_FILE = ("name", "line", "data", "tokenizer", "other_urls", "price_source", "longest_reply")
_KEYS = tuple(name for name in _FIELDS if name not in NOT_IN_FILE)
_KEYS_WITHIN = {
    **dict.fromkeys(("price", "batch_price"), Price.__struct_encode_fields__),
    "limits": Limits.__struct_encode_fields__,
}
_ALIASES = {
    "id": "model_id", "model": "model_id", "name": "model_id", "url": "base_url", "endpoint": "base_url",
    "host": "base_url", "key": "api_key_env", "temp": "temperature", "timeout": "limits", "tools": "mode",
}  # fmt: skip
_PARAMETERS = frozenset(
    {
        *("top_p", "top_k", "min_p", "seed", "stop", "frequency_penalty", "presence_penalty", "repetition_penalty"),
        *("reasoning_effort", "max_completion_tokens"),
    }
)
"""Request parameters that other tools' files mix with our keys."""
_LITELLM_PROVIDER = "custom_llm_provider"
"""Key in such files that selects litellm."""
_ENDPOINT_KEYS = ("endpoint_id", "model", "url", "api_base_url", "key", "api_key_var", "type", "api_client_type")
_ENDPOINT_TYPES = ("openai_chat_completions", "openai_chat_completions_token")


def read_table(file: TomlFile, name: str, table: object) -> ModelConfig | None:
    """Return the model of `[name]`, or None if invalid, with the errors recorded in `file`."""
    if not isinstance(table, dict):
        line, column = file.place(name)
        file.mistake(f"{name!r} is outside of any table", line, column, "Start every model with its name: [name].")
        return None
    entries = cast(dict[str, Any], table)
    line, column = file.place(name)
    inner = [key for key, value in entries.items() if isinstance(value, dict) and key not in _FIELDS]
    if inner and "model_id" not in entries:
        _report_nesting(file, name, inner[0])
        return None
    entries = _without_foreign_keys(file, name, entries)
    unknown = [key for key in entries if key not in _KEYS]
    for key in unknown:
        _report_unknown(file, name, (name, key), _KEYS)
    if unknown:
        return None
    if "model_id" not in entries:
        file.mistake(
            f"[{name}] has no model_id", line, column, 'Add the provider\'s name for the model: model_id = "…".'
        )
        return None
    return _build(file, name, (name,), entries, line)


def _without_foreign_keys(file: TomlFile, name: str, entries: dict[str, Any]) -> dict[str, Any]:
    """Return the table with request parameters of other tools' files in `params`, each with a warning."""
    given = entries.get("params", {})
    params = cast(dict[str, Any], given) if isinstance(given, dict) else None
    kept, moved = dict(entries), dict[str, Any]()
    for key, value in entries.items():
        line, _ = file.place(name, key)
        if key in _PARAMETERS and params is not None and key not in params:
            moved[key] = kept.pop(key)
            file.warnings.append(
                f"{file.path.name}:{line}: [{name}] {key} is sent as a parameter; write it into params"
            )
        elif (key, value) == (_LITELLM_PROVIDER, "openai") and entries.get("provider", "openai") == "openai":
            del kept[key]
            file.warnings.append(
                f'{file.path.name}:{line}: [{name}] {key} is ignored; provider = "openai" is the default'
            )
    return kept | ({"params": {**moved, **(params or {})}} if moved else {})


def read_endpoint(file: TomlFile, index: int, table: dict[str, Any]) -> ModelConfig | None:
    """Return the model of an `[[endpoint]]` table in the format of verifiers (`key` names an environment variable)."""
    table_keys = ("endpoint", str(index))
    line, column = file.place(*table_keys)
    name = table.get("endpoint_id")
    if not isinstance(name, str) or not name or not isinstance(table.get("model"), str):
        file.mistake("[[endpoint]] needs endpoint_id and model, both strings", line, column)
        return None
    for key in table:
        if key not in (*_ENDPOINT_KEYS, "headers", "extra_headers"):
            _report_unknown(file, name, (*table_keys, key), _ENDPOINT_KEYS)
            return None
    kind = table.get("type", table.get("api_client_type", _ENDPOINT_TYPES[0]))
    if kind not in _ENDPOINT_TYPES:
        file.mistake(f"[{name}] has unknown type {kind!r}", *file.place(*table_keys, "type"), _ENDPOINT_TYPE_HINT)
        return None
    entries = {
        "model_id": table["model"],
        "base_url": table.get("url", table.get("api_base_url")),
        "api_key_env": table.get("key", table.get("api_key_var")),
        "headers": table.get("headers", table.get("extra_headers", {})),
    }
    return _build(file, name, table_keys, {key: value for key, value in entries.items() if value is not None}, line)


_ENDPOINT_TYPE_HINT = f"Only {_ENDPOINT_TYPES[0]} is supported."


def _build(
    file: TomlFile, name: str, table_keys: tuple[str, ...], entries: dict[str, Any], line: int
) -> ModelConfig | None:
    before = len(file.mistakes)
    values = {key: _value(file, name, table_keys, key, value) for key, value in entries.items()}
    if len(file.mistakes) > before:
        return None
    match values.get("base_url"):
        case [first, *others]:
            values |= {"base_url": first, "other_urls": tuple(others)}
        case _:
            pass
    try:
        return ModelConfig(**values, name=name, line=line)
    except ValueError as error:
        if {"api_key", "api_key_env"} <= values.keys():
            place, hint = (line, file.place(*table_keys)[1]), "Keep one of the two, preferably api_key_env."
        else:
            place, hint = file.place(*table_keys, "base_url"), ""
        file.mistake(f"[{name}] {error}", *place, hint)
        return None


def _value(file: TomlFile, name: str, table_keys: tuple[str, ...], key: str, value: object) -> Any:
    """Return a key's value as accepted by `ModelConfig`, recording all errors."""
    kind = _PARTS.get(key)
    if key == "base_url" and isinstance(value, list):
        if not value:
            file.mistake(f"[{name}] base_url is an empty list", *file.place(*table_keys, key), _HINTS[key])
        return _convert(file, name, (*table_keys, key), (key,), cast(list[object], value), list[str])
    if kind is None or not isinstance(value, dict):
        return _convert(file, name, (*table_keys, key), (key,), value, kind or _KINDS[key])
    within = cast(dict[str, Any], value)
    kinds = dict(zip(_KEYS_WITHIN[key], get_type_hints(kind, include_extras=True).values(), strict=True))
    for part in within:
        if part not in kinds:
            _report_unknown(file, name, (*table_keys, key, part), _KEYS_WITHIN[key])
    converted = {
        part: _convert(file, name, (*table_keys, key, part), (key, part), part_value, kinds[part])
        for part, part_value in within.items()
        if part in kinds
    }
    fields = dict(zip(kinds, kind.__struct_fields__, strict=True))
    return kind(**{fields[part]: part_value for part, part_value in converted.items()})


def _convert(
    file: TomlFile, name: str, key_path: tuple[str, ...], keys: tuple[str, ...], value: object, kind: Any
) -> Any:
    """Return a value converted to this type, or None after recording the error."""
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{value} is not a usable number")
        converted = msgspec.convert(value, ready_type(kind), dec_hook=_hidden)
        if keys[-1] in _CHECKS:
            _CHECKS[keys[-1]](converted)
        return converted
    except ValueError as error:
        file.mistake(
            f"[{name}] {'.'.join(keys)}: {_plain(str(error))}", *file.place(*key_path), _HINTS.get(keys[0], "")
        )
        return None


def _check_headers(headers: dict[str, str]) -> None:
    for header, text in headers.items():
        if not _HEADER.fullmatch(header):
            raise ValueError(f"{header!r} is not a header name")
        if not text.isprintable():
            raise ValueError(f"the value of {header} has a line break or another control character")


def _check_params(params: dict[str, Any]) -> None:
    if not params.keys().isdisjoint(("model", "messages")):
        raise ValueError("each request has its own model and messages")
    try:
        json.dumps(params, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot be sent as JSON: {error}") from None


def _check_above(rows: Sequence[LongRates]) -> None:
    if len({row.tokens for row in rows}) < len(rows):
        raise ValueError("two rows have the same number of tokens")


def _check_tiers(tiers: dict[str, TierRates]) -> None:
    for name, rates in tiers.items():
        if is_standard(Price(tiers=tiers), name):
            raise ValueError(f"{name!r} is the usual tier, whose rates are those of the price itself")
        if name != name.strip().lower():
            raise ValueError(f"{name!r} is {name.strip().lower()!r} in replies")
        _check_above(rates.above)


def _hidden(kind: type, value: object) -> object:
    """Convert a string to a secret."""
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    raise ValueError("expected a string")


def _plain(message: str) -> str:
    """Rephrase an msgspec error in TOML's terms."""
    message = message.split(" - at ", 1)[0]
    for type_name, words in _WORDS.items():
        message = message.replace(type_name, words)
    return message[:1].lower() + message[1:]


def _report_unknown(file: TomlFile, name: str, keys: tuple[str, ...], known_keys: tuple[str, ...]) -> None:
    suggestion = _ALIASES.get(keys[-1])
    if keys[-1] == _LITELLM_PROVIDER:
        suggestion = "provider"
    suggestion = suggestion if suggestion in known_keys else nearest(keys[-1], known_keys)
    hint = f"Did you mean {suggestion}?" if suggestion else f"Known keys: {', '.join(known_keys)}."
    if known_keys is _KEYS and not suggestion:
        hint += " Parameters for the provider belong in params."
    file.mistake(f"[{name}] has an unknown key {keys[-1]!r}", *file.place(*keys), hint)


def _report_nesting(file: TomlFile, name: str, inner: str) -> None:
    """Report a bare table name with a dot, which nests tables: `[gpt-4.1]` is table 1 inside table gpt-4."""
    line, column = file.place(name, inner)
    hint = f"Write [{inner}] instead." if name == "models" else f'Put the name in quotes: ["{name}.{inner}"].'
    file.mistake(f"[{name}.{inner}] is read as table {inner!r} inside of [{name}]", line, column, hint)


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHECKS: dict[str, Callable[[Any], None]] = {
    "headers": _check_headers,
    "params": _check_params,
    "above": _check_above,
    "tiers": _check_tiers,
}
_PARTS: dict[str, type[Price | Limits]] = {"price": Price, "batch_price": Price, "limits": Limits}
_KINDS = get_type_hints(ModelConfig, include_extras=True) | {"provider": cast(Any, Literal)[tuple(PROVIDERS)]}
_WORDS = {
    " | null": "", "`str`": "a string", "`int`": "an integer", "`float`": "a number", "`bool`": "a boolean",
    "`object`": "a table", "`array`": "a list",
}  # fmt: skip
_HINTS = {
    "base_url": 'base_url = "http://…/v1", or ["http://…/v1", "http://…/v1"] if several servers serve the model.',
    "provider": "One of " + ", ".join(f'"{name}"' for name in PROVIDERS) + ".",
    "mode": '"fc" for native tools, "prompt" for tools described in the prompt.',
    "bfcl_name": 'bfcl_name = "gpt-4o-2024-11-20-FC", one of `eval-console bfcl models`.',
    "price": "price = { in = 0.15, out = 0.60 } in USD per million tokens; docs/models.md has all keys.",
    "batch_price": "batch_price = { in = 0.08, out = 0.30 } in USD per million tokens.",
    "context": "context = 131072 is the context length in tokens.",
    "limits": f"limits = {{ … }} with {', '.join(Limits.__struct_fields__)}.",
    "params": "params = { top_p = 0.9 } is passed on as is.",
    "headers": 'headers = { "X-Title" = "text" }, all values in quotes.',
    "omit": 'omit = ["temperature"] names parameters that are never sent.',
    "rename": 'rename = { max_tokens = "max_completion_tokens" } sends a parameter under another name.',
    "accept": 'accept = ["FUNCTION_CALL"] names finish reasons of complete answers, and types of parts to ignore.',
    "temperature": "temperature = 0.0 is a number of at least 0.",
    "max_tokens": "max_tokens = 4096 is an integer of at least 1.",
}
