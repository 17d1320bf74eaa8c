"""Which client talks to a model: the factory of endpoints, by the provider that the model names."""

import importlib
from typing import Any

from console.config.model import ModelConfig
from console.core.provider import PROVIDERS
from console.llm.api_registry import APIS
from console.llm.endpoint import Endpoint

CLIENTS = {
    **dict.fromkeys(APIS, "console.llm.http_client:HttpClient"),
    "litellm": "console.llm.litellm_client:LitellmClient",
    "simulated": "console.llm.simulated.endpoint:SimulatedEndpoint",
    "local": "console.llm.embedding.local:LocalEndpoint",
}
"""By the `provider` of a model. Imported only when a model names it: litellm alone takes seconds."""


def open_endpoint(model: ModelConfig) -> Endpoint:
    """Return an endpoint for a model; nothing is sent yet. The key is looked up now and kept in memory only."""
    module, _, name = CLIENTS[model.provider].partition(":")
    client: Any = getattr(importlib.import_module(module), name)
    if not PROVIDERS[model.provider].has_address:
        return client(model)
    from console.llm.remote_endpoint import RemoteEndpoint

    return RemoteEndpoint(model, client)
