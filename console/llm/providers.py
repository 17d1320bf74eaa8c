"""Which client talks to a model: the factory of endpoints, by the provider that the model names.

Opening one imports only what that model needs: litellm, which is slow and large, only for models that name it.
"""

from console.config.model import ModelConfig
from console.llm.endpoint import Endpoint


def open_endpoint(model: ModelConfig) -> Endpoint:
    """Return an endpoint for a model; nothing is sent yet. The key is looked up now and kept in memory only."""
    if model.provider == "simulated":
        from console.llm.simulated import SimulatedEndpoint

        return SimulatedEndpoint(model)
    if model.provider == "local":
        from console.llm.local import LocalEndpoint

        return LocalEndpoint(model)
    if model.provider == "litellm":
        from console.llm.litellm_client import LitellmEndpoint

        return LitellmEndpoint(model)
    from console.llm.openai_client import OpenAIEndpoint

    return OpenAIEndpoint(model)
