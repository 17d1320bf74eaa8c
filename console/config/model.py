"""One model as models.toml describes it: strict values, nothing guessed, the key where printing cannot reach it."""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from console.config.endpoint_address import address_mistake
from console.core.provider import provider_of

USUAL_CONCURRENCY = 8
"""Requests at once where neither the file nor the run says how many."""

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_FromZero = Annotated[float, msgspec.Meta(ge=0)]
_Filled = Annotated[str, msgspec.Meta(min_length=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class Secret:
    """A key; only `reveal` tells what it is, never printing it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        """Show that there is a value, never the value."""
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


class Price(msgspec.Struct, frozen=True, rename={"input": "in", "output": "out"}):
    """List price in USD per million tokens."""

    input: _FromZero | None = None
    """Written `in` in the file."""
    output: _FromZero | None = None
    """Written `out` in the file."""
    cached: _FromZero | None = None
    """Input tokens that the provider had cached; None: the same as `input`."""


class Limits(msgspec.Struct, frozen=True):
    """How hard and how long an endpoint may be asked. Times are seconds and never include waiting for our turn."""

    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    """Requests at once; None: the file does not say, and the run's own concurrency decides."""
    rpm: _Count | None = None
    """Requests started per minute."""
    timeout_s: _Positive = 600.0
    """Total time of one request, from sending to the last byte."""
    first_token_s: _Positive = 120.0
    """Time to the first content of a streamed answer."""
    idle_s: _Positive = 60.0
    """Time without new content in a streamed answer; comments and pings do not count as content."""
    max_wait_s: _FromZero = 600.0
    """Longest wait for a rate limit to pass before the request is given up."""
    max_outage_s: _FromZero = 3600.0
    """Longest wait for a provider that had answered and then went down."""
    max_tries: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5
    """Requests sent for one question, rate limited ones not counted."""
    backoff_s: _Positive = 1.0
    """Upper bound of the first random wait after a failed try; doubles with every further one, up to a minute."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A model under the name that everything else knows it by."""

    name: str
    """Its table in models.toml."""
    model_id: _Filled
    """What the provider calls it."""
    provider: str = "openai"
    """A name of `core.provider.PROVIDERS`."""
    base_url: str | None = None
    """Address up to and including `/v1`, the first if there are several; None: the provider's own."""
    api_key: Secret | None = None
    """A key written into the file. It works, with a warning; `api_key_env` is the better place."""
    api_key_env: _Filled | None = None
    """Environment variable that holds the key."""
    headers: dict[str, str] = {}
    """Further HTTP headers."""
    mode: Literal["fc", "prompt"] = "prompt"
    """How function-calling suites talk to it: native tools, or tools described in the prompt."""
    bfcl_name: _Filled | None = None
    """A name of the official BFCL registry: its whole row applies in BFCL, its mode included."""
    temperature: _FromZero | None = None
    max_tokens: _Count | None = None
    price: Price = Price()
    limits: Limits = Limits()
    params: dict[str, Any] = {}
    """Passed through in every request body."""
    omit: tuple[_Filled, ...] = ()
    """Parameters that its server refuses, and that are sent to it by nobody, whatever a suite asks for."""
    rename: dict[str, _Filled] = {}
    """Parameters that its server knows by another name: `max_tokens` as `max_completion_tokens`."""
    line: int = 0
    """Where its table begins in models.toml; 0: built in."""
    other_urls: tuple[str, ...] = ()
    """Further addresses that serve the same; in the file they stand in a list with the first one."""
    tokenizer: Path | None = None
    """Folder of the tokenizer that counts its prompts in place of its server; named by the command, not in the file."""
    data: Path | None = None
    """Data folder besides the usual ones in which a `local` model finds its weights; named with --data, not here."""

    def __post_init__(self) -> None:
        """Check what no type says.

        Raises:
            ValueError: an address is none or doubled, the provider has none, or there are two keys.
        """
        if self.base_url is not None:
            first = _address(self.base_url, " 1" if self.other_urls else "")
            msgspec.structs.force_setattr(self, "base_url", first)
        if self.other_urls:
            self._check_addresses()
        if self.api_key is not None and self.api_key_env is not None:
            raise ValueError("api_key and api_key_env exclude each other")

    def __repr__(self) -> str:
        """Name the model only: keys, headers and parameters may be secret."""
        return f"ModelConfig({self.name!r}, {self.model_id!r})"

    def _check_addresses(self) -> None:
        if not provider_of(self.provider).has_address:
            raise ValueError(f"base_url must not be a list: models of provider {self.provider} have no server")
        others = tuple(_address(address, f" {number}") for number, address in enumerate(self.other_urls, 2))
        msgspec.structs.force_setattr(self, "other_urls", others)
        names = [_place(address) for address in self.addresses]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(f"base_url names {self.addresses[number]} twice")

    @property
    def addresses(self) -> tuple[str, ...]:
        """All its addresses; none when the provider's own is asked."""
        return () if self.base_url is None else (self.base_url, *self.other_urls)

    def at_each_address(self) -> "list[ModelConfig]":
        """Return the model once for each of its addresses, as if it had no other one."""
        if not self.other_urls:
            return [self]
        return [msgspec.structs.replace(self, base_url=address, other_urls=()) for address in self.addresses]

    def address_names(self) -> list[str]:
        """Return what each address is called in views and journals; a single one needs no name."""
        if not self.other_urls:
            return [""]
        hosts = [urlsplit(address).netloc for address in self.addresses]
        pairs = zip(hosts, self.addresses, strict=True)
        return [host if hosts.count(host) == 1 else address for host, address in pairs]

    @property
    def simulated(self) -> bool:
        """Whether the answers are made up by this program."""
        return self.provider == "simulated"


def _address(value: str, which: str = "") -> str:
    """Return an address without the slash at its end; `which` says which of several it is."""
    if mistake := address_mistake(value):
        raise ValueError(f"base_url{which} {mistake}")
    return value.rstrip("/")


def _place(address: str) -> tuple[str, str | None, int | None, str, str]:
    """Return what an address leads to, however it is written."""
    parts = urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return parts.scheme, parts.hostname, port, parts.path, parts.query
