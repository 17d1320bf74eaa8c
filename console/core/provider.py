"""The table of model providers: addresses, prices and abilities."""

from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """Facts about one value of `provider` in models.toml."""

    address: str = ""
    """Default base URL for models without a `base_url`; empty if no network is used."""
    is_free: bool = False
    """True if calls cost nothing because they run in this program."""
    lists_models: bool = False
    """True if the server can list its models, free of charge."""
    embeds: bool = False
    """True if it offers embeddings."""

    @property
    def has_address(self) -> bool:
        """True if it is reached over the network, so that models may set a `base_url`."""
        return not self.is_free


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", lists_models=True, embeds=True),
    "responses": Provider("https://api.openai.com/v1", lists_models=True),
    "completions": Provider("http://localhost:1053/v1", lists_models=True),
    "anthropic": Provider("https://api.anthropic.com/v1"),
    "gemini": Provider("https://generativelanguage.googleapis.com/v1beta"),
    "litellm": Provider(embeds=True),
    "simulated": Provider(is_free=True, embeds=True),
    "local": Provider(is_free=True, embeds=True),
}
"""`openai` is any server with OpenAI chat completions; `local` is the embedding model on this machine."""


def provider_of(name: str) -> Provider:
    """Return the facts about a provider; empty ones for a provider that only an old run names."""
    return PROVIDERS.get(name, Provider())
