"""The OpenAI APIs that every compatible server offers: chat completions, and the older text completions.

Reading believes nothing: every field may be missing, null or of another type. An unreadable answer is a fault; an odd
but readable one is kept and flagged. Only the first choice is read. No SDK objects are built.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.events import SseReader
from console.llm.transport.faults import fault_of, provider_error_of
from console.llm.wires.completeness import CHAT
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, without_native
from console.llm.wires.usage import read_usage


def chat_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of a chat request: the model's settings, then the request's; settings of None are left out."""
    body: dict[str, Any] = {"model": model.model_id, "messages": without_native(request.messages)}
    settings = {"temperature": model.temperature, "max_tokens": model.max_tokens, "stream": True}
    body |= settings | model.params | request.params
    if request.tools:
        body["tools"] = request.tools
    if model.params.get("stream") is False:
        body["stream"] = False
    if body["stream"] is True:
        body.setdefault("stream_options", {"include_usage": True})
    if body["stream"] is False:
        del body["stream"]
    return as_accepted(model, {name: value for name, value in body.items() if value is not None})


def _completion_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    if any(message["role"] != "prompt" for message in request.messages):
        raise Fault(
            FaultKind.BAD_REQUEST,
            "this provider completes prompts and does not accept conversations",
            hint='Name a row with bfcl_name = "…" for BFCL, or use provider = "openai".',
        )
    body = chat_body(model, request)
    del body["messages"]
    body.pop("tools", None)
    return body | {"prompt": "".join(message.get("content") or "" for message in request.messages)}


class ChatAssembly:
    """Joins the deltas of the first choice."""

    ends = CHAT

    def __init__(self) -> None:
        self.reason: str | None = None
        self._texts: dict[str, list[str]] = {"text": [], "reasoning": []}
        self._has_content = False
        self._calls = _CallCollector()
        self._usage: Usage | None = None
        self._model = ""
        self._flags: set[str] = set()

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        del chunk  # no field of a chunk is mistaken for one of an error
        return False

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add the first choice, by index or, without one, by position."""
        if chunk.get("usage") is not None:
            self._usage = read_usage(chunk["usage"])
        if not self._model and isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        choices, is_new = chunk.get("choices"), False
        for place, choice in enumerate(cast(list[Any], choices) if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            fields = cast(dict[str, Any], choice)
            index = fields.get("index")
            if (place if index is None else index) == 0:
                is_new = self._add_choice(fields, live) or is_new
        return is_new

    def message(self) -> dict[str, Any]:
        return {
            "content": "".join(self._texts["text"]) if self._has_content else None,
            "reasoning": "".join(self._texts["reasoning"]),
            "tool_calls": self._calls.calls(),
            "model": self._model,
        }

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        content, reasoning, calls = message["content"], message["reasoning"], message["tool_calls"]
        usage = self._usage
        is_empty = content is None and not (reasoning or calls)
        if usage is not None and usage.input == 0 and usage.output == 0 and not is_empty:
            usage = None
        return Reply(
            content=content,
            tool_calls=tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in calls),
            reasoning=reasoning,
            finish=finish,
            usage=usage,
            model=message["model"],
            flags=tuple(self._flags | self._calls.flags),
        )

    def _add_choice(self, choice: dict[str, Any], live: LiveTexts) -> bool:
        if choice.get("error"):
            raise fault_of(provider_error_of(live.redact.value(choice)))
        part = choice["delta"] if isinstance(choice.get("delta"), dict) else as_object(choice.get("message"))
        is_new = self._add_part(part, live)
        if isinstance(choice.get("text"), str):  # text completions
            is_new = self._add("text", choice["text"], live) or is_new
        # Gemini's OpenAI-style API has sent `finishReason` next to an empty `finish_reason`.
        reason = choice.get("finish_reason") or choice.get("finishReason")
        if reason:
            self.reason = reason if isinstance(reason, str) else repr(reason)
            is_new = True
        return is_new

    def _add_part(self, part: dict[str, Any], live: LiveTexts) -> bool:
        is_new = False
        thinking = part.get("reasoning_content") or part.get("reasoning")
        if isinstance(thinking, str):
            is_new = self._add("reasoning", thinking, live)
        if part.get("content") is not None:
            is_new = self._add_content(part["content"], live) or is_new
        if isinstance(part.get("refusal"), str) and part["refusal"]:
            self._flags.add("refusal")
            is_new = self._add("text", part["refusal"], live) or is_new
        if part.get("tool_calls"):
            is_new = live.show("tool", self._calls.add_deltas(part["tool_calls"])) or is_new
        elif part.get("function_call"):
            is_new = live.show("tool", self._calls.add_function_call(part["function_call"])) or is_new
        return is_new

    def _add_content(self, content: object, live: LiveTexts) -> bool:
        if isinstance(content, str):
            return self._add("text", content, live)
        if not isinstance(content, list):
            raise Fault(FaultKind.BAD_ANSWER, f"the answer's content is {type(content).__name__}, not text")
        is_new = False
        for part in cast(list[Any], content):
            text = cast(dict[str, Any], part).get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                is_new = self._add("text", text, live) or is_new
            elif isinstance(part, dict):
                is_new = self._add("reasoning", _thinking_text(cast(dict[str, Any], part)), live) or is_new
        return is_new

    def _add(self, kind: str, text: str, live: LiveTexts) -> bool:
        if kind == "text":
            self._has_content = True
        if text:
            self._texts[kind].append(text)
        return live.show(kind, text)


def _thinking_text(part: dict[str, Any]) -> str:
    """Return the thoughts in a part such as `{"type": "thinking", "thinking": [{"text": …}]}`."""
    thinking = part.get("thinking")
    if isinstance(thinking, str):
        return thinking
    texts = (part.get("text") for part in as_objects(thinking))
    return "".join(text for text in texts if isinstance(text, str))


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class _CallCollector:
    """Collects the native tool calls of one reply from the deltas in which servers stream them.

    The arguments stay as the model wrote them, right or wrong; suites judge them. Only the frame is normalized: missing
    indexes, missing ids, arguments sent as an object instead of a string.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self.flags: set[str] = set()

    def add_deltas(self, deltas: object) -> str:
        """Add the `tool_calls` of a delta or a message; return the new text to show."""
        if not isinstance(deltas, list):
            self.flags.add("tool_calls is not a list")
            return ""
        return "".join(self._add_delta(delta) for delta in cast(list[Any], deltas))

    def add_function_call(self, function: object) -> str:
        """Add a `function_call`, the older format that some servers still use."""
        return self._add_delta({"index": 0, "function": function})

    def _add_delta(self, delta: object) -> str:
        if not isinstance(delta, dict):
            self.flags.add("a tool call is not an object")
            return ""
        fields = cast(dict[str, Any], delta)
        function = as_object(fields.get("function"))
        identity, name = _text(fields.get("id")), _text(function.get("name"))
        call, is_new = self._find_or_begin(fields.get("index"), identity, name)
        call.id = call.id or identity
        if name and name != call.name:
            call.name += name
        piece = _arguments(function.get("arguments"))
        if piece:
            call.arguments.append(piece)
        return (("\n" if len(self._calls) > 1 else "") + name + " " if is_new else "") + piece

    def _find_or_begin(self, index: object, identity: str, name: str) -> tuple[_Call, bool]:
        """Return the call that a delta continues, or a new one; True if it is new."""
        if isinstance(index, int) and not isinstance(index, bool):
            call = self._by_index.get(index)
            # Some servers give every call the index 0 and distinguish them by id alone.
            if call is not None and not (identity and call.id and identity != call.id and name):
                return call, False
            self._by_index[index] = call = self._begin()
            return call, True
        call = next((call for call in self._calls if identity and call.id == identity), None)
        if call is not None:
            return call, False
        if self._calls and not identity and not name:
            return self._calls[-1], False
        return self._begin(), True

    def _begin(self) -> _Call:
        call = _Call()
        self._calls.append(call)
        return call

    def calls(self) -> list[dict[str, str]]:
        """Return the calls; a missing id is replaced by the call's number, since its result must name it."""
        if any(not call.name for call in self._calls):
            self.flags.add("a tool call has no name")
        return [
            {"id": call.id or f"call_{number}", "name": call.name, "arguments": "".join(call.arguments)}
            for number, call in enumerate(self._calls)
        ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


CHAT_API = ProviderApi(path="chat/completions", body=chat_body, events=SseReader, assembly=ChatAssembly)
WRITER_API = ProviderApi(path="chat", body=chat_body, events=SseReader, assembly=ChatAssembly)
COMPLETIONS_API = ProviderApi(path="completions", body=_completion_body, events=SseReader, assembly=ChatAssembly)
"""Only for suites that build whole prompts."""
