"""Chat messages in a normalized form. Nothing about their shape is assumed."""

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from console.core.chat import Reply, ToolCall
from console.insight.passage import show_json, show_json_lines

if TYPE_CHECKING:
    from console.core.media import Media

_TOLD = "[{'role': 'tool', 'name': "
"""Prefix with which BFCL passes results to a model without native tools: as Python source of a list."""
_LONGEST = 500_000


@dataclass(frozen=True, slots=True)
class NormalizedMessage:
    """A chat message in a form independent of the provider."""

    role: str
    text: str
    name: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    """Id of the call that it answers."""
    media: "tuple[Media, ...]" = ()
    """Pictures, sound and files in its content, named in the text."""
    own_text: str = ""
    """Text without these names; only set if there are media."""

    @property
    def words(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Text and calls without call ids; equal for equal assistant messages."""
        return self.text, tuple((call.name, call.arguments) for call in self.calls)


def normalized_message(message: dict[str, Any]) -> NormalizedMessage:
    """Read one message of a request."""
    content = message.get("content")
    text = content if isinstance(content, str) else _shown(content) if content else ""
    listed: Any = message.get("tool_calls")
    calls = tuple(_call(item) for item in cast(list[Any], listed)) if isinstance(listed, list) else ()
    media = _media(cast("object", content)) if isinstance(content, list) else ()
    return NormalizedMessage(
        str(message.get("role", "")),
        text,
        str(message.get("name") or ""),
        calls,
        str(message.get("tool_call_id") or ""),
        media,
        _text_alone(cast("object", content)) if media else "",
    )


def _shown(content: Any) -> str:
    """Return the content of a message as text; any other value as JSON."""
    parts: list[Any] = cast("list[Any]", content) if isinstance(content, list) else [None]
    is_parts = all(isinstance(part, dict) for part in parts)
    if not is_parts:
        return show_json_lines(content)
    from console.core.media import content_text

    return content_text(parts)


def _media(content: object) -> "tuple[Media, ...]":
    from console.core.media import media_in  # rare

    return tuple(media_in(content))


def _text_alone(content: object) -> str:
    from console.core.media import text_alone

    return text_alone(content)


def normalized_reply(reply: Reply) -> NormalizedMessage:
    """Return a reply as the message that the next request carries."""
    return NormalizedMessage("assistant", reply.content or "", calls=reply.tool_calls)


def listed_results(text: str) -> list[tuple[str, str]]:
    """Return the (call, result) pairs listed in a user message; empty for other messages."""
    if not text.startswith(_TOLD) or len(text) > _LONGEST:
        return []
    try:
        listed = cast(list[dict[str, Any]], ast.literal_eval(text))
        return [(str(result["name"]), str(result["content"])) for result in listed]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return []


def _call(item: Any) -> ToolCall:
    whole = _mapping(item)
    function = _mapping(whole.get("function"))
    arguments = function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else show_json(arguments)
    return ToolCall(str(whole.get("id", "")), str(function.get("name", "")), text)


def _mapping(item: Any) -> dict[str, Any]:
    return cast(dict[str, Any], item) if isinstance(item, dict) else {}
