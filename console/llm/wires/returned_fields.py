"""Fields of a chat reply that its server must get back in a tool loop: thoughts, and signatures of thoughts and calls.

DeepSeek, vLLM, OpenRouter and Gemini's OpenAI-style API need them, or answer worse without. They go back under the
names with which they came, in turns with a tool call only: elsewhere they are ignored, and older DeepSeek refuses them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from console.core.chat import Message, Native
from console.core.json_text import as_object, as_objects

NATIVE = "chat"
RETURNED = (
    *("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content"),
    *("provider_specific_fields", "signature", "reasoning_signature", "encrypted_content"),
)
"""Fields of messages that are sent back."""
_RETURNED_OF_CALLS = ("extra_content", "provider_specific_fields", "thought_signature")
_PIECES = frozenset({"text", "thinking", "summary"})
"""Fields of streamed items that arrive in pieces."""
_WHOLE = ("data", "id")
_SEALED = frozenset({"signature", "reasoning_signature", "encrypted_content"})
"""Fields of messages whose value is never continued by the same value again, so that repetitions are left out."""


class ReturnedFields:
    """Collects these fields from the deltas of one message and its calls."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._values: dict[str, Any] = {}

    def add(self, part: Mapping[str, Any]) -> None:
        """Add the fields of a delta or a whole message."""
        if part.keys().isdisjoint(RETURNED):
            return
        for name in RETURNED:
            match part.get(name):
                case str(text) if text and not (name in _SEALED and text in self._texts.get(name, ())):
                    self._texts.setdefault(name, []).append(text)
                case list():
                    grow(self._values.setdefault(name, []), as_objects(cast("list[Any]", part[name])))
                case dict():
                    self._values.setdefault(name, {}).update(as_object(part[name]))
                case _:
                    pass

    def add_parts(self, content: Sequence[Any]) -> None:
        """Add a content of parts, which goes back as such if it holds thoughts."""
        parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
        grow(self._values.setdefault("content", []), as_objects(parts))

    def add_text(self, text: str) -> None:
        """Add a text next to parts with thoughts."""
        if "content" in self._values:
            grow(self._values["content"], [{"type": "text", "text": text}])

    def fields(self) -> dict[str, Any]:
        """Return the fields by name."""
        if not (self._texts or self._values):
            return {}
        values = {name: value for name, value in self._values.items() if value}
        if all(part.get("type") == "text" for part in values.get("content", ())):
            values.pop("content", None)
        return {name: "".join(pieces) for name, pieces in self._texts.items()} | _joined(values)


class _Pieces(list[str]):
    """A text that grows, joined once at the end."""


def grow(items: list[dict[str, Any]], new: Sequence[dict[str, Any]]) -> None:
    """Append the items of a delta, adding the pieces of an item that continues, but not a signed one sent again."""
    for item in new:
        last = items[-1] if items else {}
        if item.get("signature") and item == _joined(last):
            continue
        if not _continues(last, item):
            items.append({name: _begun(name, value) for name, value in item.items()})
            continue
        for name, value in item.items():
            before = last.get(name)
            if isinstance(before, _Pieces) and isinstance(value, str):
                before.append(value)
            elif name in _PIECES and isinstance(before, list) and isinstance(value, list):
                grow(cast("list[dict[str, Any]]", before), as_objects(cast("list[Any]", value)))
            elif value or not before:
                last[name] = _begun(name, value)


def _begun(name: str, value: Any) -> Any:
    """Return a field of a new item in the form in which it grows."""
    if name not in _PIECES or not isinstance(value, str | list):
        return value
    if isinstance(value, str):
        return _Pieces([value])
    begun: list[dict[str, Any]] = []
    grow(begun, as_objects(cast("list[Any]", value)))
    return begun


def _joined(value: Any) -> Any:
    """Return a value with its growing texts joined."""
    if isinstance(value, _Pieces):
        return "".join(value)
    if isinstance(value, dict):
        return {name: _joined(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return [_joined(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _continues(last: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Return whether an item is a piece of the last one; without indexes, a signature ends an item."""
    if not last or any(last.get(name) != item.get(name) for name in ("type", "index")):
        return False
    if any(last.get(name) and item.get(name) and last[name] != item[name] for name in _WHOLE):
        return False
    has_piece = any(item.get(name) for name in _PIECES)
    return "index" in item or (not _PIECES.isdisjoint(item) and not (has_piece and last.get("signature")))


def returned_of_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a streamed call that go back, also those of its function."""
    fields: dict[str, Any] = {name: call[name] for name in _RETURNED_OF_CALLS if call.get(name)}
    function = as_object(call.get("function"))
    of_function = {name: function[name] for name in _RETURNED_OF_CALLS if function.get(name)}
    return fields | ({"function": of_function} if of_function else {})


def native_of(fields: dict[str, Any], calls: dict[str, dict[str, Any]]) -> Native | None:
    """Return the fields of a message, and of its calls by id, as the reply's native content; None if there are none."""
    content = fields | ({"tool_calls": calls} if calls else {})
    return {"api": NATIVE, "content": content} if content else None


def with_returned(messages: Sequence[Message], omit: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the messages in the plain format of chat completions, with the fields that go back.

    Args:
        messages: the conversation.
        omit: names of fields that the server refuses.
    """
    out: list[dict[str, Any]] = []
    if not any("native" in message for message in messages):
        return [*map(dict, messages)]
    for message, is_in_loop in zip(messages, in_tool_loops(messages), strict=True):
        plain: dict[str, Any] = {name: value for name, value in message.items() if name != "native"}
        native = message.get("native")
        if is_in_loop and native is not None and native.get("api") == NATIVE and isinstance(native["content"], dict):
            fields = {name: value for name, value in native["content"].items() if name not in omit}
            of_calls = as_object(fields.pop("tool_calls", None))
            plain |= fields
            if of_calls and "tool_calls" in plain:
                plain["tool_calls"] = [_call(call, of_calls.get(call["id"], {}), omit) for call in plain["tool_calls"]]
        out.append(plain)
    return out


def in_tool_loops(messages: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return, for each message, whether the model calls a tool between the user messages around it."""
    turns: list[int] = []
    for message in messages:
        turns.append((turns[-1] if turns else 0) + (message.get("role") == "user"))
    looping = {turn for turn, message in zip(turns, messages, strict=True) if message.get("tool_calls")}
    return [turn in looping for turn in turns]


def _call(call: dict[str, Any], fields: Mapping[str, Any], omit: Collection[str]) -> dict[str, Any]:
    sent = {name: value for name, value in fields.items() if name not in omit}
    function = call["function"] | as_object(sent.pop("function", None))
    return {**call, **sent, "function": function}
