"""One model as models.toml describes it: strict values, nothing guessed, the key where printing cannot reach it."""

from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Price(BaseModel):
    """List price in USD per million tokens."""

    model_config = _STRICT

    input: float | None = Field(default=None, alias="in", ge=0)
    """Written `in` in the file."""
    output: float | None = Field(default=None, alias="out", ge=0)
    """Written `out` in the file."""
    cached: float | None = Field(default=None, ge=0)
    """Input tokens that the provider had cached; None: the same as `input`."""


class Limits(BaseModel):
    """How hard and how long an endpoint may be asked. Times are seconds and never include waiting for our turn."""

    model_config = _STRICT

    concurrency: int = Field(default=8, ge=1, le=1024)
    """Requests at once; where the file does not say, the run's own concurrency decides."""
    rpm: int | None = Field(default=None, ge=1)
    """Requests started per minute."""
    timeout_s: float = Field(default=600.0, gt=0)
    """Total time of one request, from sending to the last byte."""
    first_token_s: float = Field(default=120.0, gt=0)
    """Time to the first content of a streamed answer."""
    idle_s: float = Field(default=60.0, gt=0)
    """Time without new content in a streamed answer; comments and pings do not count as content."""
    max_wait_s: float = Field(default=600.0, ge=0)
    """Longest wait for a rate limit to pass before the request is given up."""
    max_outage_s: float = Field(default=3600.0, ge=0)
    """Longest wait for a provider that had answered and then went down."""
    max_tries: int = Field(default=5, ge=1, le=100)
    """Requests sent for one question, rate limited ones not counted."""
    backoff_s: float = Field(default=1.0, gt=0)
    """Upper bound of the first random wait after a failed try; doubles with every further one, up to a minute."""


class ModelConfig(BaseModel):
    """A model under the name that everything else knows it by."""

    model_config = _STRICT

    name: str
    """Its table in models.toml."""
    model_id: str = Field(min_length=1)
    """What the provider calls it."""
    provider: Literal["openai", "litellm", "simulated", "local"] = "openai"
    """`openai` is every server that speaks the OpenAI protocol; `local` is the embedding of this machine."""
    base_url: str | None = None
    """Address up to and including `/v1`; None: the provider's own."""
    api_key: SecretStr | None = None
    """A key written into the file. It works, with a warning; `api_key_env` is the better place."""
    api_key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds the key."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    """Further HTTP headers."""
    mode: Literal["fc", "prompt"] = "prompt"
    """How function-calling suites talk to it: native tools, or tools described in the prompt."""
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    price: Price = Price()
    limits: Limits = Limits()
    params: dict[str, Any] = Field(default_factory=dict)
    """Passed through in every request body."""
    line: int = 0
    """Where its table begins in models.toml; 0: built in."""
    data: Path | None = None
    """Data folder besides the usual ones in which a `local` model finds its weights; named with --data, not here."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError("base_url must begin with http:// or https://, like https://api.openai.com/v1")
        if any(character.isspace() or not character.isprintable() for character in value):
            raise ValueError("base_url must not contain spaces or control characters")
        parts = urlsplit(value)
        if not parts.hostname or not 0 < (parts.port or 1) < 65536:
            raise ValueError("base_url must name a host, like https://api.openai.com/v1")
        stripped = value.rstrip("/")
        if stripped.endswith("/chat/completions"):
            raise ValueError("base_url must end before /chat/completions")
        return stripped

    @model_validator(mode="after")
    def _check_key(self) -> "ModelConfig":
        if self.api_key is not None and self.api_key_env is not None:
            raise ValueError("api_key and api_key_env exclude each other")
        return self

    @property
    def simulated(self) -> bool:
        """Whether the answers are made up by this program."""
        return self.provider == "simulated"
