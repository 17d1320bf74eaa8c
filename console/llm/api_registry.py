"""Which API a model is asked by: that of the provider it names."""

import importlib

from console.config.model import ModelConfig
from console.llm.wires.provider_api import ProviderApi

APIS = {
    "openai": "console.llm.wires.chat.api:ChatCompletionsApi",
    "completions": "console.llm.wires.chat.api:CompletionsApi",
    "responses": "console.llm.wires.responses.api:ResponsesApi",
    "anthropic": "console.llm.wires.anthropic.api:AnthropicApi",
    "gemini": "console.llm.wires.gemini.api:GeminiApi",
}
"""Imported only when a model names the provider."""


def api_of(model: ModelConfig) -> ProviderApi:
    """Return the API of a model's provider."""
    module, _, name = APIS[model.provider].partition(":")
    return getattr(importlib.import_module(module), name)()
