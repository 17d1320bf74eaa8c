"""What is known of each provider of models: one table for keys, prices, lists and words about them."""

from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """One value of `provider` in models.toml."""

    address: str = ""
    """Where it is asked when a model names no `base_url`; empty where nothing is asked over the network."""
    is_free: bool = False
    """Whether calls cost nothing, because they run in this program."""
    lists_models: bool = False
    """Whether the models that a server offers can be asked for, which costs nothing."""
    embeds: bool = False
    """Whether it offers embeddings."""

    @property
    def has_address(self) -> bool:
        """Whether it is asked over the network, so that a model may name addresses of its own."""
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
"""`openai` is every server that offers OpenAI chat completions; `local` is the embedding of this machine."""


def provider_of(name: str) -> Provider:
    """Return what is known of a provider; nothing is known of one that only an old run names."""
    return PROVIDERS.get(name, Provider())
