"""Parameters that a server refuses: detection, renaming, and the settings to write into models.toml."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from console.config.model import ModelConfig
from console.config.secrets import mask
from console.config.toml_text import toml_value
from console.core.json_text import as_objects
from console.llm.transport.faults import ProviderError
from console.llm.wires.returned_fields import RETURNED

_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_parameter"})
_REFUSED = re.compile(
    r"unsupported|not supported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|deprecated",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\buse\s+['\"`]?(\w+)['\"`]?\s+instead", re.IGNORECASE)
_NEEDED = ("model", "messages", "tools", "input", "contents", "prompt", "system")
"""Parameters that cannot be omitted."""


@dataclass(frozen=True, slots=True)
class RefusedParameter:
    """A parameter that a server refuses."""

    name: str
    instead: str = ""
    """Name under which the server accepts it; empty if unknown."""

    @property
    def changes_nothing(self) -> bool:
        """True if omitting it leaves the question unchanged, as for streaming or a renamed parameter."""
        return self.name in ("stream", "stream_options") or bool(self.instead)


def refused_parameter(error: ProviderError, body: Mapping[str, Any]) -> RefusedParameter | None:
    """Return the request parameter that an error (status 400 or 422) refuses, or None."""
    if not (_CODES & set(error.codes) or _REFUSED.search(error.message)):
        return None
    optional = [name for name in body if name not in _NEEDED]
    sent_back = [name for name in RETURNED if any(name in message for message in as_objects(body.get("messages")))]
    if name := _first_named(error.message, sent_back):
        return RefusedParameter(name)
    if error.param:
        name = error.param.split(".")[0].split("[")[0] if error.param not in body else error.param
        name = name if name in optional else None
    else:
        name = _first_named(error.message, optional)
    if name is None:
        return None
    instead = _INSTEAD.search(error.message)
    if instead is not None and instead[1] not in body and instead[1] != name:
        return RefusedParameter(name, instead[1])
    return RefusedParameter(name)


def _first_named(message: str, names: Iterable[str]) -> str | None:
    places = {name: place.start() for name in names if (place := re.search(rf"\b{re.escape(name)}\b", message))}
    return min(places, key=lambda name: (places[name], -len(name)), default=None)


def without_refused(model: ModelConfig, refused: Iterable[RefusedParameter]) -> ModelConfig:
    """Return the model with `omit` and `rename` settings for its refused parameters."""
    omit, rename, params = list(model.omit), dict(model.rename), dict(model.params)
    for parameter in refused:
        if parameter.name == "stream":
            params["stream"] = False
        elif parameter.instead:
            rename[parameter.name] = parameter.instead
        elif parameter.name not in omit:
            old_name = next((old for old, new in rename.items() if new == parameter.name), parameter.name)
            rename.pop(old_name, None)
            omit.append(old_name)
    temperature = None if "temperature" in omit else model.temperature
    return msgspec.structs.replace(model, omit=tuple(omit), rename=rename, params=params, temperature=temperature)


def left_out_words(before: ModelConfig, after: ModelConfig) -> str:
    """Return a sentence about what newly omitted parameters change; empty if nothing is omitted.

    Those of the entry itself were chosen by somebody; those of suites are replaced by the server's defaults.
    """
    chosen = mask({"temperature": before.temperature, "max_tokens": before.max_tokens, **before.params})
    omitted = [name for name in after.omit if name not in before.omit]
    own = [f"{name} = {toml_value(chosen[name])}" for name in omitted if chosen.get(name) is not None]
    others = [name for name in omitted if chosen.get(name) is None and not RefusedParameter(name).changes_nothing]
    parts = [f"it leaves out {', '.join(own)}, which changes what is measured"] if own else []
    parts += [f"the server's default replaces the {' and '.join(others)} of suites"] if others else []
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def changed_settings(before: ModelConfig, after: ModelConfig) -> list[str]:
    """Return the changed lines of models.toml between two settings of a model, in their new version."""
    lines: list[str] = []
    if after.omit != before.omit:
        lines.append(f"omit = {toml_value(list(after.omit))}")
    if after.rename != before.rename:
        lines.append(f"rename = {toml_value(after.rename)}")
    if after.params != before.params:
        lines.append(f"params = {toml_value(mask(after.params))}")
    return lines


def what_to_write(model: ModelConfig, refused: RefusedParameter) -> str:
    """Return the advice for models.toml as one sentence; empty if nothing changes."""
    lines = changed_settings(model, without_refused(model, [refused]))
    return f"Write {' and '.join(lines)} into [{model.name}] of models.toml." if lines else ""
