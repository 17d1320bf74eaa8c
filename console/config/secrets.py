"""API keys: looked up as late as possible, and redacted from every text on its way to a screen, a log or a file."""

import base64
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus, unquote, urlsplit

from console.config.environment import variable

if TYPE_CHECKING:
    from console.config.model import ModelConfig

REDACTED = "[redacted]"
_SHORTEST = 8
_GENERIC = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|glpat|ghp)[-_][\w*-]{12,}"
    r"|\b[Bb]earer\s+[\w.~+/=*-]{6,}|\bAIza[\w-]{20,}|\bAKIA[A-Z0-9]{12,}"
)
_SECRET_NAME = re.compile(r"(?i)(?:key|secret|password|passwd|authorization|credentials?|(?:^|_)token|auth)s?$")

_VARIABLE_BY_HOST = {
    "api.openai.com": "OPENAI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
_VARIABLE_BY_PREFIX = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "claude": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "xai": "XAI_API_KEY",
    "cohere": "COHERE_API_KEY",
}


def key_variable(model: "ModelConfig") -> tuple[str | None, bool]:
    """Return the variable a model's key is looked up in, and whether the model is useless without it.

    A key is only ever offered to the host it belongs to: an unknown address gets none unless `api_key_env` says so.
    """
    if model.api_key_env is not None:
        return model.api_key_env, True
    if model.provider == "litellm":
        prefix = re.split(r"[/-]", model.model_id, maxsplit=1)[0]
        return (None if model.base_url else _VARIABLE_BY_PREFIX.get(prefix)), True
    host = urlsplit(model.base_url or "https://api.openai.com/v1").hostname or ""
    return _VARIABLE_BY_HOST.get(host), True


def resolve_key(model: "ModelConfig") -> str | None:
    """Return the key to send, or None when none is to be sent. Look it up when it is needed; do not keep it."""
    if model.simulated:
        return None
    if model.api_key is not None:
        return model.api_key.reveal().strip() or None
    name, _ = key_variable(model)
    return variable(name) if name is not None else None


def mask(values: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in which values under secret-sounding names are redacted, at any depth."""
    return {name: _mask_value(name, value) for name, value in values.items()}


def _mask_value(name: str, value: Any) -> Any:
    if _SECRET_NAME.search(name) and isinstance(value, str):
        return REDACTED
    if isinstance(value, dict):
        return mask(cast(dict[str, Any], value))
    return value


class Redactor:
    """Replaces known secrets, in any of their usual spellings, and whatever looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Know these secrets; ones shorter than eight characters would mangle ordinary words and are left alone."""
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _spellings(secret)}
        self._known = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)) or r"(?!)")

    @classmethod
    def for_models(cls, models: "Iterable[ModelConfig]") -> "Redactor":
        """Return a redactor for all secrets of these models."""
        return cls(secret for model in models for secret in secrets_of(model))

    def __call__(self, text: str) -> str:
        """Return the text with every secret replaced."""
        return _GENERIC.sub(REDACTED, self._known.sub(REDACTED, text))


def secrets_of(model: "ModelConfig") -> list[str]:
    """Return every secret that is sent for a model: its key, its headers' values, a password in the address."""
    address = urlsplit(model.base_url or "")
    secrets = [resolve_key(model), unquote(address.password or "") or None, *model.headers.values()]
    secrets += [value for name, value in model.params.items() if isinstance(value, str) and _SECRET_NAME.search(name)]
    return [secret for secret in secrets if secret]


def _spellings(secret: str) -> set[str]:
    """The secret itself, URL-encoded, in base64 at its three alignments, and as JSON writes it."""
    raw = secret.encode("utf-8", "surrogatepass")
    forms = {secret, quote(secret, safe=""), quote_plus(secret), secret.replace("\\", "\\\\").replace('"', '\\"')}
    for offset in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * offset + raw).decode("ascii").rstrip("=")
            # The first and last characters also carry bits of the neighbours, so only the middle is sure.
            core = text[(0, 2, 3)[offset] : len(text) - (0 if (offset + len(raw)) % 3 == 0 else 1)]
            forms.add(core)
    return {form for form in forms if len(form) >= _SHORTEST}
