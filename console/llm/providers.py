"""Which client talks to a model: the factory of endpoints, by the provider that the model names."""

import importlib

from console.config.model import ModelConfig
from console.llm.endpoint import Endpoint

CLIENTS = {
    **dict.fromkeys(
        ("openai", "completions", "responses", "anthropic", "gemini"), "console.llm.http_endpoint:HttpEndpoint"
    ),
    "litellm": "console.llm.litellm_client:LitellmEndpoint",
    "simulated": "console.llm.simulated:SimulatedEndpoint",
    "local": "console.llm.local:LocalEndpoint",
}
"""By the `provider` of a model. Imported only when a model names it: litellm alone takes seconds."""


def open_endpoint(model: ModelConfig) -> Endpoint:
    """Return an endpoint for a model; nothing is sent yet. The key is looked up now and kept in memory only."""
    module, _, client = CLIENTS[model.provider].partition(":")
    return getattr(importlib.import_module(module), client)(model)
