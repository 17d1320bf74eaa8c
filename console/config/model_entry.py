"""A model's table of models.toml as text, without its secrets."""

from typing import Any, cast

import msgspec

from console.config.model import Limits, ModelConfig
from console.config.models import public_address
from console.config.secrets import mask
from console.config.toml_text import toml_key, toml_value
from console.core.price import Price

_NOT_WRITTEN = (
    "name",
    "line",
    "data",
    "tokenizer",
    "api_key",
    "headers",
    "other_urls",
    "price_source",
    "longest_reply",
)


def entry_of(model: ModelConfig) -> str:
    """Return the table without default values, keys and headers."""
    lines = [f"[{toml_key(model.name)}]"]
    defaults = ModelConfig(name="", model_id="x")
    if model.price_source:
        model = msgspec.structs.replace(model, price=Price(), context=None)
    for name in ModelConfig.__struct_fields__:
        value = list(model.addresses) if name == "base_url" and model.other_urls else getattr(model, name)
        if name not in _NOT_WRITTEN and (name == "model_id" or value != getattr(defaults, name)):
            lines.append(f"{name} = {toml_value(_plain(name, value))}")
    lines += ["# api_key: as in the file"] if model.api_key is not None else []
    lines += ["# headers: as in the file"] if model.headers else []
    return "\n".join(lines)


def _plain(name: str, value: Any) -> Any:
    match value:
        case Price():
            return msgspec.to_builtins(value)
        case Limits():
            usual = Limits()
            fields = Limits.__struct_fields__
            return {key: getattr(value, key) for key in fields if getattr(value, key) != getattr(usual, key)}
        case tuple():
            return list(cast("tuple[Any, ...]", value))
        case dict() if name == "params":
            return mask(cast("dict[str, Any]", value))
        case list() if name == "base_url":
            return [public_address(address) for address in cast("list[str]", value)]
        case _:
            return public_address(value) if name == "base_url" else value
