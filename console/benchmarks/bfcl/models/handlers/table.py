"""Lookup of handlers: that of a registry row, or a generic one."""

from functools import partial

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.models.decoding import profile_of
from console.benchmarks.bfcl.models.handlers.completion import CompletionHandler
from console.benchmarks.bfcl.models.handlers.generic import GENERIC
from console.benchmarks.bfcl.models.handlers.gorilla import GORILLA, GorillaHandler
from console.benchmarks.bfcl.models.handlers.handler import Handler
from console.benchmarks.bfcl.models.handlers.own_prompts import OWN_PROMPTS, OwnPromptHandler, own_prompt_texts
from console.benchmarks.bfcl.models.handlers.reply_readings import READINGS
from console.benchmarks.bfcl.models.handlers.service import ServiceHandler
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.benchmarks.bfcl.models.profile import Profile
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.models.templates.table import template_named
from console.config.model import ModelConfig
from console.core.case import Setting
from console.core.fault import UsageError

PROVIDERS_OF_API = {
    "chat": ("openai", "litellm"),
    "gorilla": ("openai",),
    "mistral": ("openai", "litellm"),
    "responses": ("responses",),
    "anthropic": ("anthropic",),
    "gemini": ("gemini",),
    "completions": ("completions",),
    "bedrock": ("bedrock",),
    "cohere": ("cohere",),
    "writer": ("writer",),
}
"""Providers in models.toml by API of a row."""
_DOC: Doc = {"name": "f", "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}
"""Dummy function, used to check that all texts of a handler are available."""


def handler_of(setting: Setting, dataset: Dataset) -> Handler:
    """Return the handler of a setting: that of the model's row, or a generic one.

    Raises:
        UsageError: unsupported handler.
    """
    profile = profile_of(setting)
    return GENERIC[setting.mode] if profile is None else handler_for(profile, dataset)


def check_row(setting: Setting, model: ModelConfig, dataset: Dataset) -> None:
    """Check that a model supports the requests of its row; simulated models need no provider.

    Raises:
        UsageError: unsupported handler, missing texts, or a provider with a different API.
    """
    profile = profile_of(setting)
    if profile is None:
        return
    handler = handler_for(profile, dataset)
    fitting = PROVIDERS_OF_API[profile.api]
    if not model.simulated and model.provider not in fitting:
        where = f"models.toml:{model.line}" if model.line else "models.toml"
        ways = " or ".join(f'provider = "{name}"' for name in fitting)
        raise UsageError(
            f"[{model.name}] {profile.name} cannot be used with provider {model.provider}",
            where=where,
            hint=f"Write {ways}, or leave bfcl_name out to use the generic format.",
        )
    handler.request(handler.open_turn([{"role": "user", "content": "?"}], 0, [_DOC]), [_DOC], 0)


def handler_for(profile: Profile, dataset: Dataset) -> Handler:
    """Return the handler of a registry row.

    Raises:
        UsageError: unsupported template or API.
    """
    executable = partial(executable_calls, family=profile.family)
    if profile.api == "completions":
        texts = ReleaseTexts(dataset.wording_root)
        return CompletionHandler(template_named(profile.template), texts, executable, profile.template)
    if profile.handler == GORILLA:
        return GorillaHandler(executable)
    if profile.handler in OWN_PROMPTS:
        texts = own_prompt_texts(dataset.wording_root)
        return OwnPromptHandler(OWN_PROMPTS[profile.handler], SERVICES[profile.handler], texts, executable)
    service, reading = SERVICES.get(profile.handler), READINGS.get(profile.api)
    if service is None or reading is None:
        raise UsageError(
            f"{profile.name}: requests of the official {profile.handler} are not supported",
            hint="docs/bfcl.md lists them.",
        )
    return ServiceHandler(service, reading, profile.is_fc, profile.reasons, executable)
