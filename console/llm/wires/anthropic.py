"""The Anthropic Messages API: `POST /messages`, streamed block by block.

Source: the published API, and the requests of the official BFCL handler. Contents are lists of blocks; the blocks of a
reply, including its reasoning, are sent back unchanged.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.json_text import as_object, read_json
from console.llm.transport.events import SseReader
from console.llm.wires.completeness import ANTHROPIC, CUT
from console.llm.wires.content_parts import MediaData, mapped, text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import (
    NONE_ACCEPTED,
    Accepted,
    name_in,
    object_in,
    objects_in,
    place_in,
    refuse_other_roles,
    text_in,
    unread,
)
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, call_arguments, native_content
from console.llm.wires.usage import Counts, sum_of_lifetimes, tier_of, token_count, uses_of, with_lifetimes

NATIVE = "anthropic"
MAX_TOKENS = 64_000
"""Default limit, since the API requires one."""
CACHE = "prompt_cache"
"""A parameter of ours, never sent: marks tools, system text and the last two user messages for caching."""
_CACHE_CONTROL = {"type": "ephemeral"}
_VERSION = "2023-06-01"
_DELTAS = {
    "text_delta": ("text", "text", "text"),
    "thinking_delta": ("thinking", "thinking", "reasoning"),
    "signature_delta": ("thinking", "signature", ""),
}
"""Type and field of the block, and kind of live text (empty: not shown), by type of delta."""
_PAYLOADS = frozenset({"index", "delta", "content_block", "message"})
"""Fields of events that carry part of an answer."""
_ANYWHERE = ("", "global", "not_available")
"""Values of `inference_geo` that do not change the price."""
Block = dict[str, Any]
_NAME = "the Anthropic API"
_PDF = "application/pdf"


def anthropic_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/messages`; settings of None are omitted.

    Raises:
        Fault: `bad_request`, if the arguments of an earlier call are not a JSON object.
    """
    settings: dict[str, Any] = {"max_tokens": model.max_tokens or MAX_TOKENS, "temperature": model.temperature}
    settings |= model.params | request.params
    cache = bool(settings.pop(CACHE, False))
    system = [_text(text_only(message, _NAME)) for message in request.messages if message["role"] == "system"]
    messages = _conversation([message for message in request.messages if message["role"] != "system"])
    tools = [_tool(tool["function"]) for tool in request.tools]
    if cache:
        for block in tools[-1:] + system[:1] + _last_questions(messages):
            block["cache_control"] = _CACHE_CONTROL
    body: dict[str, Any] = {"model": model.model_id, "messages": messages, "system": system or None}
    body |= settings | ({"tools": tools} if tools else {})
    return {name: value for name, value in body.items() if value is not None}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _media(part: MediaData) -> Block | None:
    if part.kind == "audio" or (part.kind == "file" and part.media_type not in ("", _PDF)):
        return None
    source: Block = {"type": "url", "url": part.data}
    if not part.is_link:
        source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image" if part.kind == "image" else "document", "source": source}


def _tool(function: Mapping[str, Any]) -> Block:
    return {("input_schema" if key == "parameters" else key): value for key, value in function.items()}


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages; the API requires all tool results of one step in a single user message."""
    out: list[dict[str, Any]] = []
    collecting = False
    for message in messages:
        if message["role"] == "tool":
            result = {
                "type": "tool_result",
                "content": text_only(message, _NAME),
                "tool_use_id": message.get("tool_call_id", ""),
            }
            if collecting:
                out[-1]["content"].append(result)
            else:
                out.append({"role": "user", "content": [result]})
        elif message["role"] == "assistant":
            out.append({"role": "assistant", "content": _answer(message)})
        else:
            out.append({"role": message["role"], "content": mapped(message, _text, _media, _NAME)})
        collecting = message["role"] == "tool"
    return out


def _answer(message: Message) -> str | list[Block]:
    content = native_content(message, NATIVE)
    if content is not None:
        return content if isinstance(content, str) else [dict(block) for block in content]
    text, calls = text_only(message, _NAME), message.get("tool_calls", ())
    return ([_text(text)] if text or not calls else []) + [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": call_arguments(call["function"]),
        }
        for call in calls
    ]


def _last_questions(messages: Sequence[dict[str, Any]]) -> list[Block]:
    """Return the first block of each of the last two user messages."""
    asked = [message["content"][0] for message in messages if message["role"] == "user" and message["content"]]
    return [block for block in asked[-2:] if isinstance(block, dict)]


def read_message(message: Mapping[str, Any], finish: str, accepted: Accepted = NONE_ACCEPTED) -> Reply:
    """Return the reply in a complete message.

    Raises:
        Fault: the message has no readable content.
    """
    if message.get("content") is None:
        raise unread("the message has no content")
    refuse_other_roles(message)
    blocks = objects_in(message, "content")
    for block in blocks:
        if not _is_known(kind := name_in(block, "type")):
            accepted.skip(kind)
    texts = [_words(block, "text") for block in blocks if block["type"] == "text"]
    calls = tuple(
        ToolCall(name_in(block, "id"), name_in(block, "name"), _arguments(block, finish))
        for block in blocks
        if block["type"] == "tool_use"
    )
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(_words(block, "thinking") for block in blocks if block["type"] == "thinking"),
        finish=finish,
        usage=_usage(message.get("usage")),
        model=str(message.get("model", "")),
        native={"api": NATIVE, "content": [_sendable(block) for block in blocks]},
        tier=_tier(message.get("usage")),
    )


def _is_known(kind: object) -> bool:
    """Return whether blocks of a type are read or can be ignored: hidden thoughts, and the provider's own tools."""
    known = ("text", "thinking", "tool_use", "redacted_thinking", "server_tool_use", "mcp_tool_use")
    return kind in known or str(kind).endswith("_tool_result")


def _words(block: Block, field: str) -> str:
    text = text_in(block, field)
    if text is None:
        raise unread(f"a block of the message has no {field}")
    return text


def _arguments(block: Block, finish: str) -> str:
    """Return the arguments of a call; after a cut they may be invalid JSON, exactly as the model left them."""
    if finish in CUT and isinstance(block.get("input"), str):
        return block["input"]
    arguments = object_in(block, "input")
    if arguments is None:
        raise unread("a call has no input")
    return json.dumps(arguments)


def _sendable(block: Block) -> Block:
    """Return a block in the format to send back: the API takes only objects as inputs."""
    return {**block, "input": {}} if isinstance(block.get("input"), str) else block


def _usage(value: object) -> Usage | None:
    """Return the token counts, or None if they are implausible; cache reads and writes count as input."""
    usage = as_object(value)
    sent, output = token_count(usage.get("input_tokens")), token_count(usage.get("output_tokens"))
    cached = token_count(usage.get("cache_read_input_tokens") or 0)
    written = token_count(usage.get("cache_creation_input_tokens") or 0)
    if sent is None or output is None or cached is None or written is None:
        return None
    written = max(written, sum_of_lifetimes(usage.get("cache_creation")))
    used = uses_of(usage.get("server_tool_use"))
    counts = Counts(sent + cached + written, output, cached, written, unpriced=used)
    return with_lifetimes(counts, usage.get("cache_creation")).usage()


def _tier(value: object) -> str:
    """Return the service tier, or what else multiplies the price: a faster mode, or a region."""
    usage = as_object(value)
    tier, speed, region = (tier_of(usage.get(name)) for name in ("service_tier", "speed", "inference_geo"))
    others = [*([speed] if speed == "fast" else []), *([] if region in _ANYWHERE else [region])]
    return " ".join([*([] if tier == "standard" and others else [tier]), *others])


class _MessageAssembly:
    ends = ANTHROPIC
    read = staticmethod(read_message)

    def __init__(self) -> None:
        self.reason: str | None = None
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, Block] = {}
        self._ended: set[int] = set()
        self._is_ended = False
        self._inputs: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}
        """Pieces by block and field, joined once at the end."""

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return str(chunk.get("type")).startswith(("message", "content_block", "ping"))

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind = chunk.get("type")
        if self._is_ended and not _PAYLOADS.isdisjoint(chunk):
            raise unread("the answer continues after its end")
        if kind == "content_block_delta":
            return self._grow(place_in(chunk, "index"), object_in(chunk, "delta") or {}, live)
        if kind == "message":
            self._message, self.reason = dict(chunk), text_in(chunk, "stop_reason")
        elif kind == "message_start":
            if self._message:
                raise unread("the answer begins twice")
            self._message = dict(object_in(chunk, "message") or {})
            self._usage = {**as_object(self._message.get("usage")), "output_tokens": None}  # known at the end
        elif kind == "message_delta":
            self._add_reason(object_in(chunk, "delta") or {})
            self._add_usage(as_object(chunk.get("usage")))
        elif kind == "message_stop" and not self._is_ended:
            self._finish()
        elif not _PAYLOADS.isdisjoint(chunk):
            return self._add_to_block(chunk, live)
        return kind in ("message", "message_stop")

    def _add_usage(self, usage: Mapping[str, Any]) -> None:
        """Take newer values; no count gets smaller, as some gateways report zeros at one end of the stream."""
        for name, value in usage.items():
            before, now = token_count(self._usage.get(name)), token_count(value)
            if value is not None and (before is None or now is None or now > before):
                self._usage[name] = value

    def _add_to_block(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind, index = chunk.get("type"), place_in(chunk, "index")
        if kind == "content_block_start":
            return self._begin(index, object_in(chunk, "content_block") or {}, live)
        if kind != "content_block_stop":
            raise unread("the answer has an event of an unknown type")
        self._ended.add(index)
        return False

    def _begin(self, index: int, block: Block, live: LiveTexts) -> bool:
        if index in self._blocks:
            raise unread("a block of the answer begins twice")
        self._blocks[index] = dict(block)
        kind = block.get("type")
        if kind == "tool_use":
            return live.show("tool", f"{name_in(block, 'name')}(")
        shown_as = {"text": "text", "thinking": "reasoning"}.get(str(kind))
        return shown_as is not None and live.show(shown_as, text_in(block, str(kind)))

    def _grow(self, index: int, delta: dict[str, Any], live: LiveTexts) -> bool:
        block, kind = self._blocks.get(index), str(delta.get("type"))
        if block is None or index in self._ended:
            raise unread("the answer has a piece of a block that has not begun, or has ended")
        of_kind, field, shown_as = _DELTAS.get(kind, ("", "", ""))
        if of_kind and of_kind == block.get("type"):
            piece = _words(delta, field)
            self._texts.setdefault((index, field), [text_in(block, field) or ""]).append(piece)
            return bool(shown_as) and live.show(shown_as, piece)
        if kind == "input_json_delta" and block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            piece = _words(delta, "partial_json")
            self._inputs.setdefault(index, []).append(piece)
            return live.show("tool", piece) if block["type"] == "tool_use" else False
        if kind != "citations_delta" and _is_known(block.get("type")):
            raise unread("a block of the answer has a piece of another or an unknown type")
        return False

    def _add_reason(self, delta: dict[str, Any]) -> None:
        before, now = text_in(self._message, "stop_reason"), text_in(delta, "stop_reason")
        if before and now and before != now:
            raise unread("the answer ends for two different reasons")
        self._message["stop_reason"] = now or before

    def _finish(self) -> None:
        if sorted(self._blocks) != list(range(len(self._blocks))):
            raise unread("a block of the answer is missing")
        for (index, field), pieces in self._texts.items():
            self._blocks[index][field] = "".join(pieces)
        self._is_ended, self.reason = True, text_in(self._message, "stop_reason")
        is_cut = ANTHROPIC.finishes.get((self.reason or "").lower()) in CUT
        grown = {index for index, _ in self._texts} | self._inputs.keys()
        if not is_cut and self._blocks.keys() - self._ended - grown:
            raise unread("a block of the answer has neither content nor an end")
        for index, pieces in self._inputs.items():
            self._blocks[index]["input"] = _input("".join(pieces), self._blocks[index], is_cut=is_cut)
        self._message["usage"] = self._usage
        self._message["content"] = [self._blocks[index] for index in sorted(self._blocks)]

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        return 0

    def message(self) -> dict[str, Any]:
        return self._message


def _input(written: str, block: Block, *, is_cut: bool) -> dict[str, Any] | str:
    """Return the input of a call; if it was cut, the text written so far."""
    begun = object_in(block, "input") or {}
    try:
        value = read_json(written) if written else begun
    except ValueError:
        value = None
    if is_cut and not isinstance(value, dict):
        return written
    if not isinstance(value, dict) or begun not in ({}, value):
        raise unread("the input of a call is not the JSON of an object")
    return cast(dict[str, Any], value)


ANTHROPIC_API = ProviderApi(
    path="messages",
    body=lambda model, request: as_accepted(model, {"stream": True, **anthropic_body(model, request)}),
    headers=lambda key: {"x-api-key": key, "anthropic-version": _VERSION},
    events=SseReader,
    assembly=_MessageAssembly,
)
