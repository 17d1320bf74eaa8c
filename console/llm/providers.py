"""Opens the endpoint of a model by its provider."""

from console.config.model import ModelConfig
from console.core.provider import PROVIDERS
from console.llm.endpoint import Endpoint
from console.llm.wires.provider_api import load


def open_endpoint(model: ModelConfig) -> Endpoint:
    """Return an endpoint for a model; nothing is sent. The key is looked up now and kept in memory."""
    provider = PROVIDERS[model.provider]
    if provider.endpoint:
        return load(provider.endpoint)(model)
    from console.llm.remote_endpoint import RemoteEndpoint

    return RemoteEndpoint(model, load(provider.client))
