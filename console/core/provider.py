"""The table of model providers: clients, addresses, keys and abilities."""

from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """One value of `provider` in models.toml; implementations are given as `module:attribute` and loaded lazily."""

    api: str = ""
    """The `ProviderApi` for requests over HTTP."""
    client: str = "console.llm.http_client:HttpClient"
    """The client for requests over the network."""
    endpoint: str = ""
    """The endpoint of a provider inside this program, which uses no network and costs nothing."""
    address: str = ""
    """Default base URL for models without a `base_url`; empty if the client has its own."""
    key_variable: str = ""
    """Environment variable of the key for `address`; if empty, no key is sent unless the model sets one."""
    model_list: str = ""
    """Path of the list of the server's models, which is free of charge; empty if there is none."""
    embeds: bool = False
    """True if it offers embeddings."""
    batches: str = ""
    """Batch API of the provider, a `BatchApi`; empty if it has none, or if this program does not use it."""
    vendor: str = ""
    """Name in OpenTelemetry's conventions; empty for the same name as in models.toml."""

    @property
    def is_free(self) -> bool:
        """True if calls cost nothing because they run in this program."""
        return bool(self.endpoint)

    @property
    def has_address(self) -> bool:
        """True if it is reached over the network, so that models may set a `base_url`."""
        return not self.endpoint


_OPENAI = Provider(
    address="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    model_list="models",
    batches="console.llm.batches:OPENAI",
)

PROVIDERS: Mapping[str, Provider] = {
    "openai": _OPENAI._replace(api="console.llm.wires.chat:CHAT_API", embeds=True),
    "responses": _OPENAI._replace(api="console.llm.wires.responses:RESPONSES_API", vendor="openai"),
    "completions": Provider(
        api="console.llm.wires.chat:COMPLETIONS_API",
        address="http://localhost:1053/v1",
        model_list="models",
        vendor="openai",
    ),
    "anthropic": Provider(
        api="console.llm.wires.anthropic:ANTHROPIC_API",
        address="https://api.anthropic.com/v1",
        key_variable="ANTHROPIC_API_KEY",
        model_list="models?limit=1000",
        batches="console.llm.batches:ANTHROPIC",
    ),
    "gemini": Provider(
        api="console.llm.wires.gemini:GEMINI_API",
        address="https://generativelanguage.googleapis.com/v1beta",
        key_variable="GEMINI_API_KEY",
        model_list="models?pageSize=1000",
        vendor="gcp.gemini",
    ),
    "bedrock": Provider(
        api="console.llm.wires.bedrock:BEDROCK_API",
        address="https://bedrock-runtime.us-east-1.amazonaws.com",
        key_variable="AWS_BEARER_TOKEN_BEDROCK",
        vendor="aws.bedrock",
    ),
    "cohere": Provider(
        api="console.llm.wires.cohere:COHERE_API", address="https://api.cohere.com/v2", key_variable="COHERE_API_KEY"
    ),
    "writer": Provider(
        api="console.llm.wires.chat:WRITER_API", address="https://api.writer.com/v1", key_variable="WRITER_API_KEY"
    ),
    "ollama": Provider(api="console.llm.wires.ollama:OLLAMA_API", address="http://localhost:11434"),
    "litellm": Provider(client="console.llm.litellm_client:LitellmClient", embeds=True),
    "simulated": Provider(endpoint="console.llm.simulated.endpoint:SimulatedEndpoint", embeds=True),
    "local": Provider(endpoint="console.llm.embedding.minilm:LocalEndpoint", embeds=True),
}
"""`openai` is any server with OpenAI chat completions; `local` is the embedding model on this machine."""


def provider_of(name: str) -> Provider:
    """Return the facts about a provider; empty ones for a provider that only an old run names."""
    return PROVIDERS.get(name, Provider())
