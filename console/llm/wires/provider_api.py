"""What the HTTP client needs to know of a provider's API: paths, headers, bodies, and how answers are put together."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.provider import PROVIDERS
from console.llm.transport.events import EventReader
from console.llm.wires.completeness import Ends
from console.llm.wires.live_texts import LiveTexts


class Assembly(Protocol):
    """Joins the chunks of one answer into the message of its API."""

    reason: str | None
    """Why the server says that the model stopped, as it sent it; None while the answer goes on."""

    @property
    def ends(self) -> Ends:
        """The reasons that prove an answer of this API whole."""
        ...

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Whether this is a chunk of a message: its fields that elsewhere explain an error mean something else."""
        ...

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add a chunk, or a whole body, and show its new text; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error in a form of this API.
        """
        ...

    def message(self) -> dict[str, Any]:
        """Return the whole message."""
        ...

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        """Return the reply that a message without secrets holds; `finish` is what its reason stands for.

        Raises:
            Fault: it holds none.
        """
        ...


class ProviderApi(Protocol):
    """One HTTP API for chat, such as OpenAI's chat completions. Stateless."""

    @property
    def events(self) -> Callable[[], EventReader]:
        """Makes the reader of one stream: `SseReader` or `LineReader`."""
        ...

    @property
    def assembly(self) -> Callable[[], Assembly]:
        """Makes the assembly of one answer."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the key and name the API's version."""
        ...

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        """Return the path of a request below the model's address."""
        ...

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        """Return the body of a request, without what the model's server refuses (`omit`, `rename`).

        Raises:
            Fault: `bad_request`, when the conversation cannot be put into this API.
        """
        ...

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        """Whether a body asks for a stream."""
        ...


def api_of(model: ModelConfig) -> ProviderApi:
    """Return the API of a model's provider."""
    return load(PROVIDERS[model.provider].api)()


def load(place: str) -> Any:
    """Return what a `module:attribute` names. Loaded only when a model needs it: litellm alone takes seconds."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
