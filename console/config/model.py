"""One model as described in models.toml: strictly validated, nothing guessed, and with a key that cannot be printed."""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from console.config.endpoint_address import address_mistake
from console.core.price import Price
from console.core.provider import provider_of

USUAL_CONCURRENCY = 8
"""Concurrent requests if neither the file nor the run sets a number."""

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_FromZero = Annotated[float, msgspec.Meta(ge=0)]
_Filled = Annotated[str, msgspec.Meta(min_length=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class Secret:
    """A key that is never printed; only `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        """Return a placeholder, never the value."""
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


class Limits(msgspec.Struct, frozen=True):
    """Load and time limits of an endpoint. Times are in seconds and never include waiting for the limiter."""

    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    """Concurrent requests, 1 to 1024. Default: the run's concurrency."""
    rpm: _Count | None = None
    """Requests started per minute. Default: no limit."""
    timeout_s: _Positive = 1800.0
    """Total time of a request, from sending to the last byte."""
    first_token_s: _Positive = 600.0
    """Time to the first content of a streamed reply; doubled once it has been too short."""
    idle_s: _Positive = 60.0
    """Time without new content in a streamed reply; comments and pings are not content."""
    max_wait_s: _FromZero = 600.0
    """Longest wait for a rate limit."""
    max_outage_s: _FromZero = 3600.0
    """Longest wait for a provider that went down after it had answered."""
    max_tries: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5
    """Requests sent per call, not counting rate-limited ones, 1 to 100."""
    backoff_s: _Positive = 1.0
    """Upper bound of the first random wait after a failed try; doubles with each further try, up to a minute."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A model under the name used everywhere else."""

    name: str
    """Name of the model's table in models.toml."""
    model_id: _Filled
    """The provider's name for the model. Default: required."""
    provider: str = "openai"
    """The API to use, see [below](#providers)."""
    base_url: str | None = None
    """Address up to and including `/v1`, without `/chat/completions`; in the file, a list names several equal servers.
    Default: the provider's own."""
    api_key: Secret | None = None
    """The key itself; accepted with a warning, and cannot be combined with `api_key_env`."""
    api_key_env: _Filled | None = None
    """Environment variable that holds the key; a `.env` file in the current folder also works. Default: by the host of
    `base_url`."""
    headers: dict[str, str] = {}
    """Additional HTTP headers, all values strings; they are treated as secrets."""
    mode: Literal["fc", "prompt"] = "prompt"
    """How function-calling suites pass tools: `"fc"` natively, `"prompt"` described in the prompt."""
    bfcl_name: _Filled | None = None
    """A name in the official BFCL registry; in BFCL its whole row applies, including its mode ([bfcl.md](bfcl.md))."""
    temperature: _FromZero | None = None
    """Sampling temperature, at least 0. Default: not sent."""
    max_tokens: _Count | None = None
    """Limit of a reply in tokens, at least 1. Default: not sent."""
    price: Price = Price()
    """Price in USD per million tokens, see [below](#prices). Default: litellm's list."""
    batch_price: Price | None = None
    """Price of the calls of `run --batch`, with the same keys. Default: half of `price`."""
    context: _Count | None = None
    """Context length in tokens; shown, never enforced. Default: litellm's list."""
    limits: Limits = Limits()
    """Rate and time limits, see [below](#limits)."""
    params: dict[str, Any] = {}
    """Parameters added to every request body as is, such as `{ top_p = 0.9 }`."""
    omit: tuple[_Filled, ...] = ()
    """List of parameters that are never sent, even if a suite sets them."""
    rename: dict[str, _Filled] = {}
    """Parameters to send under another name: `{ max_tokens = "max_completion_tokens" }`."""
    accept: tuple[_Filled, ...] = ()
    """Values in this server's replies to accept although this program does not know them: finish reasons of complete
    answers, such as `"FUNCTION_CALL"`, and types of parts to ignore, such as `"container_upload"`; the message about
    such a reply names the entry; reasons that name a failure (`error`, `abort`) are never accepted."""
    price_source: str = ""
    """Source of a price that is not in the file, such as `litellm 1.92.0`; not set in the file."""
    longest_reply: int | None = None
    """Tokens of the model's longest reply in litellm's list; not set in the file."""
    line: int = 0
    """Line of its table in models.toml; 0 for built-in models."""
    other_urls: tuple[str, ...] = ()
    """Additional addresses that serve the same model; in the file, `base_url` is then a list."""
    tokenizer: Path | None = None
    """Folder of a tokenizer that counts prompts in place of the server; set on the command line, not in the file."""
    data: Path | None = None
    """Extra data folder searched for the weights of a `local` model; set with --data, not in the file."""

    def __post_init__(self) -> None:
        """Check rules that the types do not express.

        Raises:
            ValueError: an address is invalid or duplicate, the provider takes none, or there are two keys.
        """
        if self.base_url is not None:
            first = _address(self.base_url, " 1" if self.other_urls else "")
            msgspec.structs.force_setattr(self, "base_url", first)
        if self.other_urls:
            self._check_addresses()
        if self.api_key is not None and self.api_key_env is not None:
            raise ValueError("api_key and api_key_env cannot be combined")

    def __repr__(self) -> str:
        """Return the name and id only: keys, headers and parameters may be secret."""
        return f"ModelConfig({self.name!r}, {self.model_id!r})"

    def _check_addresses(self) -> None:
        if not provider_of(self.provider).has_address:
            raise ValueError(f"base_url must not be a list: provider {self.provider} has no server")
        others = tuple(_address(address, f" {number}") for number, address in enumerate(self.other_urls, 2))
        msgspec.structs.force_setattr(self, "other_urls", others)
        names = [_place(address) for address in self.addresses]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(f"base_url names {self.addresses[number]} twice")

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses; empty for the provider's default."""
        return () if self.base_url is None else (self.base_url, *self.other_urls)

    def at_each_address(self) -> "list[ModelConfig]":
        """Return one copy of the model per address, each with that address only."""
        if not self.other_urls:
            return [self]
        return [msgspec.structs.replace(self, base_url=address, other_urls=()) for address in self.addresses]

    def address_names(self) -> list[str]:
        """Return the name of each address in views and journals; a single address needs none."""
        if not self.other_urls:
            return [""]
        hosts = [urlsplit(address).netloc for address in self.addresses]
        pairs = zip(hosts, self.addresses, strict=True)
        return [host if hosts.count(host) == 1 else address for host, address in pairs]

    @property
    def simulated(self) -> bool:
        """True if the answers come from a built-in simulated model."""
        return self.provider == "simulated"


def _address(value: str, which: str = "") -> str:
    """Validate an address and strip its trailing slash; `which` numbers it in messages."""
    if mistake := address_mistake(value):
        raise ValueError(f"base_url{which} {mistake}")
    return value.rstrip("/")


def _place(address: str) -> tuple[str, str | None, int | None, str, str]:
    """Return the normalized parts of an address, for comparing addresses."""
    parts = urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return parts.scheme, parts.hostname, port, parts.path, parts.query
