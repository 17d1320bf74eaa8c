"""Servers that many people use: addresses, variables of their keys, and names in litellm's price list."""

from typing import NamedTuple
from urllib.parse import urlsplit

from console.core.provider import provider_of


class KnownServer(NamedTuple):
    """A service, or a program that serves models on this machine."""

    name: str
    """Name on the command line, and in litellm's price list if it is listed there."""
    title: str
    provider: str = "openai"
    """Value of `provider` in models.toml."""
    address: str = ""
    """Value of `base_url`; empty for the provider's default."""
    key_variable: str = ""
    needs: str = ""
    """Requirements that users must provide themselves, such as their own address; empty if there are none."""
    port: int = 0
    """Usual port of a program on this machine; 0 for a service."""
    id_prefix: str = ""
    """Prefix of `model_id`, for services reached through litellm."""

    @property
    def is_local(self) -> bool:
        """True for a program that serves models on this machine, which needs no key."""
        return self.port > 0

    @property
    def needs_address(self) -> bool:
        """True if each user has their own address."""
        return self.name in (AZURE, OTHER)

    @property
    def host(self) -> str:
        """Host of the service; empty for a local program, and for addresses that only the user can give."""
        if self.is_local or self.needs_address:
            return ""
        return urlsplit(self.address or provider_of(self.provider).address).hostname or ""


def _local(name: str, title: str, port: int) -> KnownServer:
    return KnownServer(name, title, address=f"http://localhost:{port}/v1", port=port)


AZURE, OTHER = "azure", "other"
"""Names of the entries whose address the user must give."""
KNOWN_SERVERS = (
    KnownServer("openai", "OpenAI", key_variable="OPENAI_API_KEY"),
    KnownServer("anthropic", "Anthropic", "anthropic", key_variable="ANTHROPIC_API_KEY"),
    KnownServer("gemini", "Google Gemini", "gemini", key_variable="GEMINI_API_KEY"),
    KnownServer("mistral", "Mistral", address="https://api.mistral.ai/v1", key_variable="MISTRAL_API_KEY"),
    KnownServer("openrouter", "OpenRouter", address="https://openrouter.ai/api/v1", key_variable="OPENROUTER_API_KEY"),
    KnownServer("groq", "Groq", address="https://api.groq.com/openai/v1", key_variable="GROQ_API_KEY"),
    KnownServer("deepseek", "DeepSeek", address="https://api.deepseek.com/v1", key_variable="DEEPSEEK_API_KEY"),
    KnownServer("together_ai", "Together", address="https://api.together.xyz/v1", key_variable="TOGETHER_API_KEY"),
    KnownServer("xai", "xAI", address="https://api.x.ai/v1", key_variable="XAI_API_KEY"),
    KnownServer("cohere", "Cohere", "cohere", key_variable="COHERE_API_KEY"),
    KnownServer(
        AZURE, "Azure OpenAI", key_variable="AZURE_OPENAI_API_KEY",
        needs="your address, like https://NAME.openai.azure.com/openai/v1",
    ),
    KnownServer("bedrock", "Amazon Bedrock", "bedrock", key_variable="AWS_BEARER_TOKEN_BEDROCK"),
    KnownServer(
        "vertex_ai", "Google Vertex AI", "litellm", needs="`gcloud auth application-default login`",
        id_prefix="vertex_ai/",
    ),
    _local("vllm", "vLLM", 8000),
    _local("sglang", "SGLang", 30000),
    _local("llama.cpp", "llama.cpp", 8080),
    _local("ollama", "Ollama", 11434),
    _local("lmstudio", "LM Studio", 1234),
    KnownServer(OTHER, "any other address", needs="its address, like http://10.0.0.5:8000/v1"),
)  # fmt: skip
