"""Loading of models: models.toml (or an endpoints.toml of verifiers) plus the built-in ones.

An error in one model never affects another: valid models are in `models`, errors in `mistakes`, each with line and
hint.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from console.config.environment import dotenv_warning, origin
from console.config.model import ModelConfig
from console.config.secrets import key_variable, mask
from console.config.toml import Mistake, TomlFile, read_toml
from console.core.price import BATCH, Price, as_price, scaled
from console.core.provider import provider_of
from console.core.run import ModelFacts

__all__ = ["KeyState", "Mistake", "ModelBook", "ModelConfig", "facts", "key_state", "load_models"]


@dataclass(slots=True)
class ModelBook:
    """All known models, with the errors found while reading them."""

    models: dict[str, ModelConfig] = field(default_factory=dict[str, ModelConfig])
    """Models by name, those of the file first."""
    mistakes: list[Mistake] = field(default_factory=list[Mistake])
    warnings: list[str] = field(default_factory=list[str])
    path: Path | None = None
    """File that was read; None if there is none."""


@dataclass(frozen=True, slots=True)
class KeyState:
    """Readiness of a model for calls, with a reason."""

    ready: bool
    text: str


def load_models(path: Path | None, data: Path | None = None) -> ModelBook:
    """Read a models file; None gives the built-in models alone. Never raises for the contents of the file.

    Args:
        path: models file.
        data: folder given with --data, where local models look for their weights first.
    """
    from console.config.builtin import local_models, simulated_models

    book = ModelBook(path=path)
    if path is not None:
        file = read_toml(path)
        _read_tables(file, book)
        book.mistakes, book.warnings = file.mistakes, file.warnings
    for name, model in (simulated_models() | local_models()).items():
        book.models.setdefault(name, model)
    unpriced = {name: model for name, model in book.models.items() if model.price == Price()}
    if unpriced := {name: model for name, model in unpriced.items() if not provider_of(model.provider).is_free}:
        from console.config.list_prices import with_list_price  # here, as simulated models need no prices

        book.models |= {name: with_list_price(model) for name, model in unpriced.items()}
    for name, model in book.models.items():
        if model.provider == "local" and data is not None:
            book.models[name] = msgspec.structs.replace(model, data=data)
    if any(model.api_key_env and origin(model.api_key_env) == ".env" for model in book.models.values()):
        book.warnings += [warning] if (warning := dotenv_warning()) else []
    return book


def _read_tables(file: TomlFile, book: ModelBook) -> None:
    from console.config.table import read_endpoint, read_table

    for name, table in file.data.items():
        if name == "endpoint" and isinstance(table, list):
            models = [read_endpoint(file, n, entry) for n, entry in enumerate(cast(list[dict[str, Any]], table))]
        else:
            models = [read_table(file, name, table)]
        for model in models:
            if model is not None:
                _add(file, book, model)


def _add(file: TomlFile, book: ModelBook, model: ModelConfig) -> None:
    earlier = book.models.get(model.name)
    if earlier is not None:
        text = f"[{model.name}] on line {model.line} repeats line {earlier.line}; the first one is used"
        file.warnings.append(f"{file.path.name}:{model.line}: {text}")
        return
    if model.api_key is not None:
        text = f"[{model.name}] has its key in the file; name an environment variable with api_key_env instead"
        file.warnings.append(f"{file.path.name}:{model.line}: {text}")
    book.models[model.name] = model


def key_state(model: ModelConfig) -> KeyState:
    """Return whether the model's key is available, and where it comes from."""
    if model.simulated:
        return KeyState(True, "simulated, needs no key")
    if model.provider == "local":
        return _weights_state(model.data)
    if model.api_key is not None:
        if model.api_key.reveal().strip():
            return KeyState(True, "key from models.toml")
        return KeyState(False, "api_key is empty")
    if model.other_urls:
        states = [key_state(at_address) for at_address in model.at_each_address()]
        return next((state for state in states if not state.ready), states[0])
    name = key_variable(model)
    if name is None:
        return KeyState(True, "no key is sent")
    key_origin = origin(name)
    if key_origin:
        return KeyState(True, f"key from {name}" + (" in .env" if key_origin == ".env" else ""))
    return KeyState(False, f"{name} is not set")


def _weights_state(data: Path | None) -> KeyState:
    """Return whether the weights of the local embedding model are available; it needs no key."""
    from console.config.weights import find_weights

    if find_weights(data) is None:
        return KeyState(False, "its weights are missing (`eval-console pull minilm`)")
    return KeyState(True, "on this machine, needs no key; not comparable with published totals")


def facts(model: ModelConfig, *, is_batched: bool = False) -> ModelFacts:
    """Return the facts that a run records about a model, at batch prices if it is asked in batches.

    They never contain a key, a header or a password.
    """
    params: dict[str, Any] = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    params = {name: value for name, value in params.items() if value is not None} | model.params
    changes = {"omit": list(model.omit)} if model.omit else {}
    changes |= {"rename": model.rename} if model.rename else {}
    changes |= {"accept": list(model.accept)} if model.accept else {}
    price, batched = _batch_price(model) if is_batched else (model.price, "")
    return ModelFacts(
        name=model.name,
        model_id=model.model_id,
        provider=model.provider,
        base_url=public_address(model.base_url),
        other_urls=tuple(map(public_address, model.other_urls)),
        simulated=model.simulated,
        price=price,
        price_source="" if model.batch_price and is_batched else model.price_source,
        batched=batched,
        params=mask(params) | changes,
        longest_reply=model.longest_reply,
    )


def _batch_price(model: ModelConfig) -> tuple[Price, str]:
    """Return the price of batches, and their terms."""
    if model.batch_price is not None:
        return model.batch_price, "batch price"
    if (listed := model.price.tiers.get(BATCH)) is not None:
        is_half = (listed.input, listed.output) == (scaled(model.price, 0.5).input, scaled(model.price, 0.5).output)
        return as_price(listed), "half price" if is_half else "batch price"
    return as_price(scaled(model.price, 0.5)), "about half price" if model.price_source else "half price"


def public_address(address: str | None) -> str:
    """Return an address without user, password and query."""
    if not address:
        return ""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
