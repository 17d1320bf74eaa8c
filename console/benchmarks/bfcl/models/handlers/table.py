"""Lookup of handlers: that of a registry row, or a generic one."""

from functools import partial

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.models.decoding import profile_of
from console.benchmarks.bfcl.models.handlers.completion import CompletionHandler
from console.benchmarks.bfcl.models.handlers.generic import GENERIC
from console.benchmarks.bfcl.models.handlers.handler import Handler
from console.benchmarks.bfcl.models.handlers.own_prompts import OWN_PROMPTS, own_prompt_handler
from console.benchmarks.bfcl.models.handlers.reply_readings import READINGS
from console.benchmarks.bfcl.models.handlers.service import ServiceHandler
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.benchmarks.bfcl.models.profile import Profile
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.models.templates.table import TEMPLATES
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
REFUSED = {
    "Falcon3FCHandler": "its prompts are made by the tokenizer's Jinja template, and code of a model is not run",
    "MiniCPMFCHandler": "its prompts contain Python classes that datamodel-code-generator 0.25.7 writes per function",
    "QwenAgentNoThinkHandler": "the official command cannot load this row, so its requests are unknown",
}
"""Official classes whose requests are not sent, and why."""
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
            hint=f"Write {ways}, or omit bfcl_name to use the generic format.",
        )
    handler.request(handler.open_turn([{"role": "user", "content": "?"}], 0, [_DOC]), [_DOC], 0)


def handler_for(profile: Profile, dataset: Dataset) -> Handler:
    """Return the handler of a registry row.

    Raises:
        UsageError: the row is not supported.
    """
    if profile.handler in REFUSED:
        raise UsageError(
            f"{profile.name}: requests of the official {profile.handler} are not sent: {REFUSED[profile.handler]}",
            hint="Omit bfcl_name to use the generic format. Results of this row can be imported and evaluated.",
        )
    executable = partial(executable_calls, family=profile.family)
    if profile.api == "completions":
        texts = ReleaseTexts(dataset.wording_root)
        return CompletionHandler(TEMPLATES[profile.template], texts, executable, profile.template)
    if profile.handler in OWN_PROMPTS:
        return own_prompt_handler(profile.handler, SERVICES[profile.handler], dataset.wording_root, executable)
    service, reading = SERVICES[profile.handler], READINGS[profile.api]
    return ServiceHandler(service, reading, profile.is_fc, profile.reasons, executable)
