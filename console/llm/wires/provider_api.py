"""What the HTTP client needs to know of a provider's API: paths, headers, request bodies, and a builder of replies."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.core.chat import ChatRequest, Reply

OnText = Callable[[str, str], None]
"""Sees new text at once: kind (`text`, `reasoning`, `tool`) and text."""


class AnswerBuilder(Protocol):
    """Collects one answer, chunk by chunk or whole, and makes a reply of it once it is proven complete."""

    redact: Redactor

    @property
    def is_complete(self) -> bool:
        """Whether the server has proven that the answer is whole."""
        ...

    @property
    def partial(self) -> str:
        """What has arrived, without secrets."""
        ...

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error, or is no part of an answer.
        """
        ...

    def mark_end(self) -> None:
        """Note that the server has marked the end of its stream."""
        ...

    def check_complete(self) -> None:
        """Refuse an answer that has not been proven whole.

        Raises:
            Fault: `bad_answer` or `truncated`.
        """
        ...

    def flag(self, oddity: str) -> None:
        """Note an oddity worth showing."""
        ...

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        """Return the whole reply, without secrets.

        Raises:
            Fault: the answer has not been proven whole.
        """
        ...


class ProviderApi(Protocol):
    """One HTTP API for chat, such as OpenAI's chat completions. Stateless."""

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

    def builder(self, on_text: OnText, redact: Redactor) -> AnswerBuilder:
        """Return a builder of one answer."""
        ...
