"""Parsing of replies by API, and their format in the following requests, for native tools and prompting.

Source: BFCL v4, the official handlers' `_parse_query_response_…` and `_add_assistant_message_…`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn
from console.benchmarks.bfcl.models.handlers.services import Service
from console.core.chat import Native, Reply

Read = Callable[[Reply, Service], Answer]
NO_CANDIDATE = "The model did not return any response."
"""Official text for an empty answer of Gemini."""


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """Parsers of one API's replies."""

    native: Read
    prompting: Read


def _chat_message(reply: Reply, service: Service) -> Turn:
    """Return the answer as the official code sends it back, which also decides about the thoughts."""
    message: Turn = {**cast(Turn, reply.message()), **service.answer_fields}
    message.pop("native", None)
    if service.hides_text:
        return {**message, "content": "", "tool_calls": message.get("tool_calls", [])}
    if service.keeps_reasoning and reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    return message


def _calls_as_text(reply: Reply) -> list[dict[str, str]]:
    return [{call.name: call.arguments} for call in reply.tool_calls]


def _chat_native(reply: Reply, service: Service) -> Answer:
    return Answer(_calls_as_text(reply) or reply.content, _chat_message(reply, service))


def _chat_prompting(reply: Reply, service: Service) -> Answer:
    return Answer(reply.content, _chat_message(reply, service))


def _mistral_native(reply: Reply, service: Service) -> Answer:
    """Return the calls only; the official code drops the text of an answer without calls.

    Calls are resent with `index: 0`, like the official client does.
    """
    message = _chat_message(reply, service)
    if reply.tool_calls:
        message["tool_calls"] = [{**call, "index": 0} for call in message["tool_calls"]]
    return Answer(_calls_as_text(reply), message)


def _responses_native(reply: Reply, service: Service) -> Answer:
    del service
    return Answer(_calls_as_text(reply) or _output_text(reply), cast(Turn, reply.message()))


def _output_text(reply: Reply) -> str | None:
    """Return the text that the official client reads: commentary and final answer, without a space between them."""
    items = [item for item in _content(reply) if item.get("type") == "message"]
    if not any("phase" in item for item in items):
        return reply.content
    return "".join(part.get("text") or part.get("refusal", "") for item in items for part in item["content"])


def _responses_prompting(reply: Reply, service: Service) -> Answer:
    del service
    return Answer(_output_text(reply), cast(Turn, reply.message()))


def _anthropic_native(reply: Reply, service: Service) -> Answer:
    del service
    texts = [block["text"] for block in _content(reply) if block.get("type") == "text"]
    return Answer(_calls_as_text(reply) or texts, cast(Turn, reply.message()))


def _anthropic_prompting(reply: Reply, service: Service) -> Answer:
    """Return the text of the first block, which is resent as a string."""
    del service
    blocks = _content(reply)
    if not blocks or "text" not in blocks[0]:
        raise ValueError("the answer does not begin with a text")
    text = blocks[0]["text"]
    native: Native = {**(reply.native or {"api": "anthropic", "content": []}), "content": text}
    return Answer(text, {"role": "assistant", "content": text, "native": native})


def _gemini_native(reply: Reply, service: Service) -> Answer:
    del service
    calls = [{call.name: json.loads(call.arguments)} for call in reply.tool_calls]
    parts = _content(reply)
    if not parts and not calls:
        return Answer([NO_CANDIDATE], {"role": "assistant", "content": NO_CANDIDATE})
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    return Answer(calls or texts, cast(Turn, reply.message()))


def _gemini_prompting(reply: Reply, service: Service) -> Answer:
    """Return the last text that is not a thought; only this is resent."""
    del service
    parts = _content(reply)
    if len(parts) > 2:
        raise ValueError("the answer has more than two parts")
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    text = texts[-1] if texts else NO_CANDIDATE
    return Answer(text, {"role": "assistant", "content": text})


def _bedrock(reply: Reply, service: Service) -> Answer:
    """Return the calls or all texts; the calls of a truncated answer do not count."""
    del service
    calls = [{call.name: json.loads(call.arguments)} for call in reply.tool_calls]
    texts = [block["text"] for block in _content(reply) if "text" in block]
    whole = reply.finish in ("stop", "tool_calls")
    return Answer(calls if calls and whole else texts, cast(Turn, reply.message()))


def _cohere(reply: Reply, service: Service) -> Answer:
    del service
    calls = [{"tool_name": call.name, "parameters": json.loads(call.arguments)} for call in reply.tool_calls]
    return Answer(calls or reply.content, cast(Turn, reply.message()))


def _content(reply: Reply) -> list[dict[str, Any]]:
    if reply.native is not None:
        return cast(list[dict[str, Any]], reply.native["content"])
    return [{"type": "text", "text": reply.content}] if reply.content is not None else []


READINGS = {
    "chat": ReplyReading(_chat_native, _chat_prompting),
    "mistral": ReplyReading(_mistral_native, _chat_prompting),
    "responses": ReplyReading(_responses_native, _responses_prompting),
    "anthropic": ReplyReading(_anthropic_native, _anthropic_prompting),
    "gemini": ReplyReading(_gemini_native, _gemini_prompting),
    "bedrock": ReplyReading(_bedrock, _bedrock),
    "cohere": ReplyReading(_cohere, _cohere),
    "writer": ReplyReading(_chat_native, _chat_prompting),
}
"""Parsers by API of a registry row."""
