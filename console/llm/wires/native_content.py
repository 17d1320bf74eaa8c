"""What an API must be sent back as it came: thinking blocks, signatures, encrypted reasoning.

A reply carries it as `native`; the assistant message of the next request repeats it, and so the journal and a resume
have it too. Another API ignores it and is sent the plain form of the same message.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.core.chat import Message, Native


def native_content(message: Mapping[str, Any], api: str) -> list[Any] | str | None:
    """Return what an assistant message repeats of an API's own content; None when it has none of that API."""
    native = cast(Native | None, message.get("native"))
    return native["content"] if native is not None and native.get("api", native.get("wire")) == api else None


def without_native(messages: Sequence[Message]) -> list[Message]:
    """Return the messages in the plain form that every API reads."""
    if not any("native" in message for message in messages):
        return list(messages)
    return [cast(Message, {key: value for key, value in message.items() if key != "native"}) for message in messages]
