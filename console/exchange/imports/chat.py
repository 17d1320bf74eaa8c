"""Conversion of other tools' messages to the OpenAI chat format, and the model calls of finished conversations."""

from collections.abc import Iterable
from typing import cast

from console.core.chat import Reply, ToolCall
from console.core.media import media_name
from console.exchange.imports.log import LogCall, Table, listed, table, tables, text

_MEDIA = {"image": "image", "audio": "audio", "video": "video", "image_url": "image", "input_audio": "audio"}


def tool_call(call: Table) -> ToolCall:
    """Convert a call in the format of the OpenAI API, or with name and arguments side by side."""
    function = call.get("function") or call.get("name")
    if isinstance(function, dict):  # version 1 logs use the API format
        fields = table(cast("object", function))
        return ToolCall(text(call.get("id")), text(fields.get("name")), text(fields.get("arguments")))
    return ToolCall(text(call.get("id")), text(function), text(call.get("arguments")))


def chat_message(message: Table) -> Table:
    """Convert a message to the OpenAI chat format."""
    content, reasoning = content_text(message.get("content"))
    reasoning = reasoning or text(message.get("reasoning_content"))
    shown: Table = {"role": text(message.get("role")) or "user", "content": content}
    if reasoning:
        shown["reasoning"] = reasoning
    if calls := tables(message.get("tool_calls")):
        shown["tool_calls"] = [tool_call(call).for_message() for call in calls]
    if message.get("tool_call_id"):
        shown["tool_call_id"] = text(message.get("tool_call_id"))
    if function := message.get("function"):
        shown["name"] = text(function)
    if error := table(message.get("error")):
        shown["content"] = "\n".join(filter(None, (content, f"error: {text(error.get('message'))}")))
    return shown


def content_text(content: object) -> tuple[str, str]:
    """Return the text of a message and its reasoning; other content becomes placeholders."""
    if not isinstance(content, list):
        return text(content), ""
    parts: list[str] = []
    thoughts: list[str] = []
    for part in listed(cast("object", content)):
        item = table(part)
        kind = text(item.get("type"))
        if kind == "reasoning":
            thoughts.append(text(item.get("reasoning")) or text(item.get("summary")))
        elif kind in _MEDIA:
            value = item.get(kind)
            source = value if isinstance(value, str) else text(table(value).get("url") or table(value).get("data"))
            parts.append(source if source.startswith("[") else media_name(_MEDIA[kind], source))
        else:
            parts.append(text(item.get("text")) if "text" in item else text(part))
    return "\n".join(filter(None, parts)), "\n".join(filter(None, thoughts))


def calls_of_messages(messages: Iterable[Table]) -> tuple[LogCall, ...]:
    """Derive the model calls of a finished conversation: each assistant message answers those before it."""
    calls: list[LogCall] = []
    before: list[Table] = []
    for message in messages:
        if message.get("role") == "assistant":
            written_calls = tables(message.get("tool_calls"))
            functions = [(text(call.get("id")), table(call.get("function"))) for call in written_calls]
            tool_calls = tuple(
                ToolCall(name, text(function.get("name")), text(function.get("arguments")))
                for name, function in functions
            )
            content = message.get("content")
            reply = Reply(
                content=None if content is None else text(content),
                tool_calls=tool_calls,
                reasoning=text(message.get("reasoning")),
                finish="tool_calls" if tool_calls else "stop",
            )
            calls.append(LogCall(list(before), reply))
        before.append(message)
    return tuple(calls)


def after_last_reply(messages: list[Table]) -> list[Table]:
    """Return the messages after the last reply; empty if there is no reply."""
    last = max((place for place, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    return messages[last + 1 :] if last >= 0 else []


def first_question(value: object) -> str:
    """Return a sample's question for lists: its text, or that of the first user message."""
    if isinstance(value, str):
        return value
    messages = tables(value)
    asked = next((message for message in messages if message.get("role") == "user"), messages[0] if messages else {})
    return content_text(asked.get("content"))[0]


def conversation(value: object) -> list[Table]:
    """Convert a list of messages or a plain prompt to the OpenAI chat format."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [chat_message(message) for message in tables(value)]


def reply_of(message: Table) -> Reply:
    """Convert an assistant message to a reply."""
    (call,) = calls_of_messages([{**chat_message(message), "role": "assistant"}])
    return call.reply
