"""The interface of a provider's API to the HTTP client."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.provider import PROVIDERS
from console.llm.transport.events import EventReader
from console.llm.wires.completeness import Ends
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import Accepted


class Assembly(Protocol):
    """Joins the chunks of one answer into a message in the format of its API."""

    reason: str | None
    """Finish reason as the server sent it; None while the answer continues."""

    @property
    def ends(self) -> Ends:
        """Finish reasons of this API."""
        ...

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Return True for chunks of this API whose fields could be mistaken for those of an error."""
        ...

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add a chunk or a whole body and show its new text; return True if it added to the answer.

        Raises:
            Fault: the chunk reports an error.
        """
        ...

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        """Add and show the leading events that contain only a piece of text.

        Returns:
            Their number. The next event, if there is one, is decoded and given to `add`.
        """
        ...

    def message(self) -> dict[str, Any]:
        """Return the whole message."""
        ...

    def read(self, message: dict[str, Any], finish: str, accepted: Accepted) -> Reply:
        """Return the reply in a redacted message, without parts of types that only the user accepts.

        Raises:
            Fault: the message contains no reply.
        """
        ...


def _bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


@dataclass(frozen=True, slots=True)
class ProviderApi:
    """One HTTP API for chat, such as OpenAI's chat completions."""

    path: str
    """Path of requests below the model's address; `{model}` is replaced by the `model_id`."""
    body: Callable[[ModelConfig, ChatRequest], dict[str, Any]]
    """Returns the body of a request; raises a Fault (`bad_request`) if the API cannot express the conversation."""
    events: Callable[[], EventReader]
    assembly: Callable[[], Assembly]
    headers: Callable[[str], Mapping[str, str]] = _bearer
    """Returns the headers that carry the key and the API's version."""
    always_streams: bool = False
    """True if streaming is not selected by a field of the body."""
    gives_logprobs: bool = False
    """True if log probabilities can be requested and are read."""

    def path_of(self, model_id: str) -> str:
        """Return the path of a model's requests."""
        return self.path.format(model=quote(model_id, safe=""))

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        """Return True if the body asks for a stream."""
        return self.always_streams or body.get("stream") is True


def api_of(model: ModelConfig) -> ProviderApi:
    """Return the API of a model's provider."""
    return load(PROVIDERS[model.provider].api)


def load(name: str) -> Any:
    """Import the object named by `module:attribute`; done lazily, since litellm alone takes seconds."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
