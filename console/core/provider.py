"""The providers of models: one table for clients, keys, prices, lists and words about them."""

from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """One value of `provider` in models.toml. What implements it is named as `module:attribute`, and loaded late."""

    api: str = ""
    """The `ProviderApi` by which it is asked over HTTP."""
    client: str = "console.llm.http_client:HttpClient"
    """What asks it over the network."""
    endpoint: str = ""
    """What answers in this program; then nothing goes over the network, and nothing costs anything."""
    address: str = ""
    """Where it is asked when a model names no `base_url`; empty: the client knows."""
    key_variable: str = ""
    """Environment variable of the key for `address`; empty: none is sent there unless the model names one."""
    lists_models: bool = False
    """Whether the models that a server offers can be asked for, which costs nothing."""
    embeds: bool = False
    """Whether it offers embeddings."""
    vendor: str = ""
    """Its name in OpenTelemetry's conventions; empty: the one in models.toml."""

    @property
    def is_free(self) -> bool:
        """Whether calls cost nothing, because they run in this program."""
        return bool(self.endpoint)

    @property
    def has_address(self) -> bool:
        """Whether it is asked over the network, so that a model may name addresses of its own."""
        return not self.endpoint


_OPENAI = Provider(address="https://api.openai.com/v1", key_variable="OPENAI_API_KEY", lists_models=True)

PROVIDERS: Mapping[str, Provider] = {
    "openai": _OPENAI._replace(api="console.llm.wires.chat.api:ChatCompletionsApi", embeds=True),
    "responses": _OPENAI._replace(api="console.llm.wires.responses.api:ResponsesApi", vendor="openai"),
    "completions": Provider(
        api="console.llm.wires.chat.api:CompletionsApi",
        address="http://localhost:1053/v1",
        lists_models=True,
        vendor="openai",
    ),
    "anthropic": Provider(
        api="console.llm.wires.anthropic.api:AnthropicApi",
        address="https://api.anthropic.com/v1",
        key_variable="ANTHROPIC_API_KEY",
    ),
    "gemini": Provider(
        api="console.llm.wires.gemini.api:GeminiApi",
        address="https://generativelanguage.googleapis.com/v1beta",
        key_variable="GEMINI_API_KEY",
        vendor="gcp.gemini",
    ),
    "ollama": Provider(api="console.llm.wires.ollama:OllamaApi", address="http://localhost:11434"),
    "litellm": Provider(client="console.llm.litellm_client:LitellmClient", embeds=True),
    "simulated": Provider(endpoint="console.llm.simulated.endpoint:SimulatedEndpoint", embeds=True),
    "local": Provider(endpoint="console.llm.embedding.local:LocalEndpoint", embeds=True),
}
"""`openai` is every server that offers OpenAI chat completions; `local` is the embedding of this machine."""


def provider_of(name: str) -> Provider:
    """Return what is known of a provider; nothing is known of one that only an old run names."""
    return PROVIDERS.get(name, Provider())
