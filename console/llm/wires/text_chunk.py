"""The commonest event of a chat stream, one more piece of text or arguments, decoded and checked in one step.

`ChatAssembly.add` reads the same events several times more slowly. It also gets every event with a field or type not
declared here, so that odd chunks are handled in one place only.
"""

from typing import Literal

import msgspec

from console.core.ready_type import ready_type


class _Function(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    arguments: str
    name: None = None


class _CallPiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    index: int
    function: _Function
    id: None = None
    type: Literal["function"] | None = None


class _Delta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content: str | None = None
    role: Literal["assistant"] | None = None
    refusal: None = None
    reasoning: None = None
    reasoning_content: None = None
    tool_calls: list[_CallPiece] | None = None
    function_call: None = None


class _Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    delta: _Delta
    index: Literal[0] = 0
    finish_reason: None = None
    logprobs: None = None


class TextChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chunk that contains only a piece of text, or of the arguments of a call."""

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
    def piece(self) -> tuple[int | None, str]:
        """Index of the call whose arguments it continues (None: text), and the piece; empty unless exactly one."""
        delta = self.choices[0].delta
        if not delta.tool_calls:
            return None, delta.content or ""
        [call, *others] = delta.tool_calls
        return call.index, "" if others or delta.content is not None else call.function.arguments


_DECODER = msgspec.json.Decoder(ready_type(TextChunk))


def read_text_chunk(event: bytes) -> TextChunk | None:
    """Return the chunk in an event that contains only one piece of text or arguments; None for any other event."""
    try:
        chunk = _DECODER.decode(event)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return chunk if chunk.piece[1] else None
