"""What a wire must send back as it came: thinking blocks, signatures, encrypted reasoning.

A reply carries it as `native`; the assistant message of the next request repeats it, and so the journal and a resume
have it too. Another wire ignores it and sends the plain form of the same message.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.core.chat import Message, Native


def replayed(message: Mapping[str, Any], wire: str) -> list[Any] | str | None:
    """Return what an assistant message repeats of a wire's own content; None when it has none of that wire."""
    native = cast(Native | None, message.get("native"))
    return native["content"] if native is not None and native["wire"] == wire else None


def without_native(messages: Sequence[Message]) -> list[Message]:
    """Return the messages in the plain form that every wire reads."""
    if not any("native" in message for message in messages):
        return list(messages)
    return [cast(Message, {key: value for key, value in message.items() if key != "native"}) for message in messages]
