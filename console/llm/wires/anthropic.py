"""The Anthropic Messages API: `POST /messages`, streamed block by block.

Source: the published API, and the requests of the official BFCL handler. Contents are lists of blocks; the blocks of a
reply, including its reasoning, are sent back unchanged.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.events import SseReader
from console.llm.wires.completeness import ANTHROPIC
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, call_arguments, native_content
from console.llm.wires.usage import token_count

NATIVE = "anthropic"
MAX_TOKENS = 64_000
"""Default limit, since the API requires one."""
CACHE = "prompt_cache"
"""Parameter that marks tools, system text and the last two user messages for the provider's cache; never sent."""
_CACHE_CONTROL = {"type": "ephemeral"}
_VERSION = "2023-06-01"
_DELTAS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "reasoning")}
"""Field of the block and kind of live text, by type of delta."""
Block = dict[str, Any]


def anthropic_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/messages`; settings of None are left out.

    Raises:
        Fault: `bad_request`, if the arguments of an earlier call are not a JSON object.
    """
    settings: dict[str, Any] = {"max_tokens": model.max_tokens or MAX_TOKENS, "temperature": model.temperature}
    settings |= model.params | request.params
    cache = bool(settings.pop(CACHE, False))
    system = [_text(message.get("content") or "") for message in request.messages if message["role"] == "system"]
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


def _tool(function: Mapping[str, Any]) -> Block:
    return {("input_schema" if key == "parameters" else key): value for key, value in function.items()}


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages; the API wants all tool results of one step in a single user message."""
    out: list[dict[str, Any]] = []
    collecting = False
    for message in messages:
        if message["role"] == "tool":
            result = {
                "type": "tool_result",
                "content": message.get("content") or "",
                "tool_use_id": message.get("tool_call_id", ""),
            }
            if collecting:
                out[-1]["content"].append(result)
            else:
                out.append({"role": "user", "content": [result]})
        elif message["role"] == "assistant":
            out.append({"role": "assistant", "content": _answer(message)})
        else:
            out.append({"role": message["role"], "content": [_text(message.get("content") or "")]})
        collecting = message["role"] == "tool"
    return out


def _answer(message: Message) -> str | list[Block]:
    content = native_content(message, NATIVE)
    if content is not None:
        return content if isinstance(content, str) else [dict(block) for block in content]
    text, calls = message.get("content") or "", message.get("tool_calls", ())
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


def read_message(message: Mapping[str, Any], finish: str) -> Reply:
    """Return the reply in a complete message.

    Raises:
        Fault: the message has no content.
    """
    if not isinstance(message.get("content"), list):
        raise Fault(FaultKind.BAD_ANSWER, "the message has no content")
    blocks = as_objects(message["content"])
    calls = tuple(
        ToolCall(str(block.get("id", "")), str(block.get("name", "")), json.dumps(block.get("input", {})))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(str(block.get("thinking", "")) for block in blocks if block.get("type") == "thinking"),
        finish=finish,
        usage=_usage(message.get("usage")),
        model=str(message.get("model", "")),
        native={"api": NATIVE, "content": blocks},
    )


def _usage(value: object) -> Usage | None:
    """Return the token counts, or None if they are not credible; cache reads and writes count as input."""
    usage = as_object(value)
    sent, output = token_count(usage.get("input_tokens")), token_count(usage.get("output_tokens"))
    cached = token_count(usage.get("cache_read_input_tokens") or 0)
    written = token_count(usage.get("cache_creation_input_tokens") or 0)
    if sent is None or output is None or cached is None or written is None:
        return None
    return Usage(input=sent + cached + written, output=output, cached=cached)


class _MessageAssembly:
    ends = ANTHROPIC
    read = staticmethod(read_message)

    def __init__(self) -> None:
        self.reason: str | None = None
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self._is_stopped = False
        self._texts: dict[tuple[int, str], list[str]] = {}
        """Pieces by block and field, joined once at the end."""

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return str(chunk.get("type")).startswith(("message", "content_block", "ping"))

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind, index = chunk.get("type"), chunk.get("index")
        place = index if type(index) is int else len(self._blocks)
        if self._is_stopped:  # as after `[DONE]`; and joining at every further stop would take quadratic time
            return False
        if kind == "message":
            self._message = dict(chunk)
            self.reason = str(chunk.get("stop_reason"))
            return True
        if kind == "message_start":
            self._message = dict(as_object(chunk.get("message")))
            self._usage = dict(as_object(self._message.get("usage")))
        elif kind == "content_block_start":
            self._blocks[place] = dict(as_object(chunk.get("content_block")))
            name = self._blocks[place].get("name")
            return live.show("tool", f"{name}(" if isinstance(name, str) else None)
        elif kind == "content_block_delta":
            return self._grow(place, as_object(chunk.get("delta")), live)
        elif kind == "message_delta":
            self._usage |= as_object(chunk.get("usage"))
            self._message |= as_object(chunk.get("delta"))
        elif kind == "message_stop":
            self._finish()
            self._is_stopped = True
            return True
        return False

    def _grow(self, index: int, delta: Mapping[str, Any], live: LiveTexts) -> bool:
        self._blocks.setdefault(index, {})
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
            return live.show("tool", delta.get("partial_json"))
        if kind == "signature_delta":
            self._extend(index, "signature", delta)
            return False
        if kind not in _DELTAS:
            return False
        field, shown_as = _DELTAS[kind]
        self._extend(index, field, delta)
        return live.show(shown_as, delta.get(field))

    def _extend(self, index: int, field: str, delta: Mapping[str, Any]) -> None:
        pieces = self._texts.setdefault((index, field), [str(self._blocks[index].get(field) or "")])
        pieces.append(str(delta.get(field) or ""))

    def _finish(self) -> None:
        for (index, field), pieces in self._texts.items():
            self._blocks[index][field] = "".join(pieces)
        for index, parts in self._inputs.items():
            try:
                self._blocks[index]["input"] = json.loads("".join(parts) or "{}")
            except (ValueError, RecursionError):
                raise Fault(FaultKind.BAD_ANSWER, "the arguments of a call are not JSON") from None
        if self._usage:
            self._message["usage"] = self._usage
        self._message["content"] = [self._blocks[index] for index in sorted(self._blocks)]
        self.reason = str(self._message.get("stop_reason"))

    def message(self) -> dict[str, Any]:
        return self._message


ANTHROPIC_API = ProviderApi(
    path="messages",
    body=lambda model, request: as_accepted(model, {"stream": True, **anthropic_body(model, request)}),
    headers=lambda key: {"x-api-key": key, "anthropic-version": _VERSION},
    events=SseReader,
    assembly=_MessageAssembly,
)
