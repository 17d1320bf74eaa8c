"""Parameters that a server refuses: which, under which other name it takes them, and what models.toml has to say."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from console.config.model import ModelConfig
from console.config.secrets import mask
from console.config.toml_text import toml_value
from console.llm.transport.faults import ProviderError

_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_parameter"})
_REFUSED = re.compile(
    r"unsupported|not supported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|deprecated",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\buse\s+['\"`]?(\w+)['\"`]?\s+instead", re.IGNORECASE)
_NEEDED = ("model", "messages", "tools", "input", "contents", "prompt", "system")
"""Without these there is no question."""


@dataclass(frozen=True, slots=True)
class RefusedParameter:
    """A parameter that a server does not take."""

    name: str
    instead: str = ""
    """The name under which it does."""

    @property
    def changes_nothing(self) -> bool:
        """Whether the same is asked without it: how an answer is sent, or a limit under another name."""
        return self.name in ("stream", "stream_options") or bool(self.instead)


def refused_parameter(error: ProviderError, body: Mapping[str, Any]) -> RefusedParameter | None:
    """Return the parameter of a request that an error (status 400 or 422) is about; None when it names none."""
    if not (_CODES & set(error.codes) or _REFUSED.search(error.message)):
        return None
    optional = [name for name in body if name not in _NEEDED]
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
    """Return the model with settings that leave out, or rename, what its server refuses."""
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


def changed_settings(before: ModelConfig, after: ModelConfig) -> list[str]:
    """Return the lines of models.toml in which two settings of a model differ, as they are afterwards."""
    lines: list[str] = []
    if after.omit != before.omit:
        lines.append(f"omit = {toml_value(list(after.omit))}")
    if after.rename != before.rename:
        lines.append(f"rename = {toml_value(after.rename)}")
    if after.params != before.params:
        lines.append(f"params = {toml_value(mask(after.params))}")
    return lines


def what_to_write(model: ModelConfig, refused: RefusedParameter) -> str:
    """Return in one sentence what to write into models.toml."""
    lines = changed_settings(model, without_refused(model, [refused]))
    return f"Write {' and '.join(lines)} into [{model.name}] of models.toml." if lines else ""
