"""The commonest event of a chat stream, a piece of text and nothing else, decoded and checked in one step.

`ChatAssembly.add` reads the same events several times more slowly. It also gets every event with a field or type not
declared here, so that odd chunks are handled in one place only.
"""

from typing import Literal

import msgspec

from console.core.ready_type import ready_type


class _Delta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content: str
    role: Literal["assistant"] | None = None
    refusal: None = None
    reasoning: None = None
    reasoning_content: None = None
    tool_calls: tuple[()] | None = None
    function_call: None = None


class _Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    delta: _Delta
    index: Literal[0] = 0
    finish_reason: None = None
    logprobs: None = None


class TextChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chunk that contains only a piece of text."""

    id: str
    choices: tuple[_Choice]
    object: Literal["chat.completion.chunk"]
    created: int
    model: str = ""
    system_fingerprint: str | None = None
    service_tier: str | None = None
    usage: None = None
    obfuscation: str | None = None
    """Padding that hides the length of the text from observers of the connection."""

    @property
    def text(self) -> str:
        return self.choices[0].delta.content


_DECODER = msgspec.json.Decoder(ready_type(TextChunk))


def read_text_chunk(event: bytes) -> TextChunk | None:
    """Return the chunk in an event that contains only a piece of text; None for any other event."""
    try:
        chunk = _DECODER.decode(event)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return chunk if chunk.text else None
