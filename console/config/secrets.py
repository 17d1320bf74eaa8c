"""API keys, looked up as late as possible, and other secrets sent for a model."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from console.config.environment import variable
from console.config.known_servers import KNOWN_SERVERS
from console.config.redaction import REDACTED, Redactor, sounds_secret
from console.core.provider import PROVIDERS, provider_of

if TYPE_CHECKING:
    from console.config.model import ModelConfig

_PUBLIC_HEADERS = frozenset(
    {
        *("accept", "accept-language", "anthropic-beta", "anthropic-version", "content-type", "http-referer"),
        *("openai-beta", "openai-organization", "openai-project", "origin", "referer", "user-agent", "x-title"),
    }
)
"""Headers whose values are not secret: a model's text may well contain `application/json` or a version date."""

_VARIABLE_BY_HOST = {server.host: server.key_variable for server in KNOWN_SERVERS if server.host} | {
    urlsplit(provider.address).hostname or "": provider.key_variable
    for provider in PROVIDERS.values()
    if provider.key_variable
}
_VARIABLE_BY_PREFIX = {server.name: server.key_variable for server in KNOWN_SERVERS if server.host} | {
    "claude": "ANTHROPIC_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "bedrock": None,
    "vertex_ai": None,
}
"""Variables that litellm reads, by the prefix of its model names; None where litellm signs in by itself."""


def key_variable(model: "ModelConfig") -> str | None:
    """Return the environment variable that holds a model's key, or None if no key is sent.

    A key is only sent to the host it belongs to: an unknown address gets none unless `api_key_env` is set.
    """
    if model.api_key_env is not None:
        return model.api_key_env
    if model.provider == "litellm":
        prefix = re.split(r"[/-]", model.model_id, maxsplit=1)[0]
        return None if model.base_url else _VARIABLE_BY_PREFIX.get(prefix)
    host = urlsplit(model.base_url or provider_of(model.provider).address).hostname or ""
    return _VARIABLE_BY_HOST.get(host)


def resolve_key(model: "ModelConfig") -> str | None:
    """Return the key to send, or None. Call it when the key is needed, and do not keep the result."""
    if model.simulated:
        return None
    if model.api_key is not None:
        return model.api_key.reveal().strip() or None
    name = key_variable(model)
    return variable(name) if name is not None else None


def mask(values: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with the values of secret-sounding names redacted, at any depth."""
    return {name: _mask_value(name, value) for name, value in values.items()}


def _mask_value(name: str, value: Any) -> Any:
    if sounds_secret(name) and isinstance(value, str):
        return REDACTED
    if isinstance(value, dict):
        return mask(cast(dict[str, Any], value))
    return value


def redactor_for(models: "Iterable[ModelConfig]") -> Redactor:
    """Return a redactor for all secrets of these models."""
    return Redactor(secret for model in models for secret in secrets_of(model))


def secrets_of(model: "ModelConfig") -> list[str]:
    """Return every secret sent for a model: key, header values and secret-sounding parameters."""
    secrets = [resolve_key(at_address) for at_address in model.at_each_address()]
    for name, value in model.headers.items():
        if name.lower() not in _PUBLIC_HEADERS:
            secrets.append(value.removeprefix("Bearer ").removeprefix("Basic "))
    secrets += [value for name, value in model.params.items() if isinstance(value, str) and sounds_secret(name)]
    return [secret for secret in secrets if secret]
