"""The protocols that the client of HTTP providers speaks, by the provider that a model names."""

import importlib

from console.config.model import ModelConfig
from console.llm.wire_form import WireForm

FORMS = {
    "openai": "console.llm.chat_form:ChatForm",
    "completions": "console.llm.chat_form:CompletionForm",
    "responses": "console.llm.responses_stream:ResponsesForm",
    "anthropic": "console.llm.anthropic_stream:AnthropicForm",
    "gemini": "console.llm.gemini_stream:GeminiForm",
}
"""Imported only when a model names the provider."""


def form_of(model: ModelConfig) -> WireForm:
    """Return the protocol of a model's provider."""
    module, _, form = FORMS[model.provider].partition(":")
    return getattr(importlib.import_module(module), form)()
