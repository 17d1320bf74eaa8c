"""The prompt of a conversation, i.e. its first request's messages, as editable text.

A line such as `── user ──` begins a message; the text up to the next such line is its content. Control and invisible
characters are shown as marks; in unchanged lines they are restored.
"""

import re
from collections.abc import Sequence
from typing import Any

from console.core.fault import UsageError
from console.core.text import visible_file
from console.insight.conversation import Conversation

ROLES = ("system", "developer", "user", "assistant")
_HEAD = re.compile(r"^── (\w+) ──[ \t]*$", re.MULTILINE)


def opening_of(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the messages of the first model request.

    Raises:
        UsageError: the model was never called.
    """
    first = next((exchange for exchange in conversation.exchanges if exchange.asked.role == "model"), None)
    if first is None:
        raise UsageError("this case has no finished call, so there is no prompt to edit")
    return first.messages


def as_text(messages: Sequence[dict[str, Any]]) -> str:
    """Format messages for editing.

    Raises:
        UsageError: a message holds more than a role and text, such as a call or an image.
    """
    for message in messages:
        if not isinstance(message.get("content"), str) or set(message) - {"role", "content"}:
            raise UsageError("a message of this prompt contains more than text", hint="Replay it without editing.")
    text = "".join(f"── {message['role']} ──\n{message['content'].rstrip(chr(10))}\n" for message in messages)
    return visible_file(text)


def from_text(text: str, before: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Parse edited messages.

    Args:
        text: edited text.
        before: original messages, used to restore marked characters in unchanged lines.

    Raises:
        UsageError: there is no message, or a role is unknown.
    """
    head, *parts = _HEAD.split(text)
    if head.strip() or not parts:
        raise UsageError("the text does not begin with a line such as ── user ──", hint="Keep these lines.")
    texts = [message["content"] for message in before if isinstance(message.get("content"), str)]
    original = {visible_file(line): line for text in texts for line in text.split("\n")}
    messages = [
        {"role": role, "content": "\n".join(original.get(line, line) for line in content.strip("\n").split("\n"))}
        for role, content in zip(parts[::2], parts[1::2], strict=True)
    ]
    for message in messages:
        if message["role"] not in ROLES:
            raise UsageError(f"no message has the role {message['role']!r}", hint=f"One of: {', '.join(ROLES)}.")
    if not any(message["role"] == "user" and message["content"].strip() for message in messages):
        raise UsageError("the user's message is empty", hint="Write something under ── user ──.")
    return messages
