"""Which API a model is asked by: that of the provider it names."""

import importlib

from console.config.model import ModelConfig
from console.llm.provider_api import ProviderApi

APIS = {
    "openai": "console.llm.openai_api:ChatCompletionsApi",
    "completions": "console.llm.openai_api:CompletionsApi",
    "responses": "console.llm.responses_api:ResponsesApi",
    "anthropic": "console.llm.anthropic_api:AnthropicApi",
    "gemini": "console.llm.gemini_api:GeminiApi",
}
"""Imported only when a model names the provider."""


def api_of(model: ModelConfig) -> ProviderApi:
    """Return the API of a model's provider."""
    module, _, name = APIS[model.provider].partition(":")
    return getattr(importlib.import_module(module), name)()
