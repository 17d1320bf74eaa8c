"""The OpenAI APIs that every compatible server offers: chat completions, and the older text completions.

Reading trusts nothing: every field may be missing, null or of another type. An odd but readable answer is kept; one
with an unreadable part is a fault. Only the first choice is read. No SDK objects are built.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object
from console.core.record import REPEATED
from console.llm.transport.events import SseReader
from console.llm.transport.faults import fault_of, provider_error_of, reports_error
from console.llm.wires.completeness import CHAT, CUT, agree, check_native
from console.llm.wires.content_parts import text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.logprobs import for_completions, openai_tokens, read_logprobs
from console.llm.wires.parts import (
    Accepted,
    Choices,
    name_in,
    object_in,
    objects_in,
    refuse_other_roles,
    refuse_unknown,
    text_in,
    unread,
)
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.repeated_arguments import check_pieces, read_once
from console.llm.wires.request_body import as_accepted
from console.llm.wires.returned_fields import ReturnedFields, native_of, returned_of_call, with_returned
from console.llm.wires.text_chunk import read_text_chunk
from console.llm.wires.usage import larger, read_usage, tier_of


def chat_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of a chat request: the model's settings, then the request's; settings of None are omitted."""
    body: dict[str, Any] = {"model": model.model_id, "messages": with_returned(request.messages, model.omit)}
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
    body = for_completions(chat_body(model, request))
    del body["messages"]
    body.pop("tools", None)
    return body | {"prompt": "".join(text_only(message, "text completion") for message in request.messages)}


class ChatAssembly:
    """Joins the deltas of the first choice."""

    ends = CHAT

    def __init__(self) -> None:
        self.reason: str | None = None
        self._said = _Said()
        self._choices = Choices(by_place=True)
        self._is_begun = self._has_deltas = False
        self._id: object = None
        self._fingerprint: object = None
        self._earlier_ids: set[object] = set()
        self._restated: dict[str, Any] | None = None
        """The whole message, as some servers send it next to or after its deltas."""
        self._usage: Usage | None = None
        self._model = self._tier = ""
        self._logprobs: list[object] = []

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return bool(chunk.get("choices"))

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add the first choice, identified by its index or, if it has none, by its position."""
        if (identity := chunk.get("id")) != self._id and isinstance(identity, str) and identity:
            self._change_id(identity)
        self._fingerprint = chunk.get("system_fingerprint")
        self._add_usage(chunk)
        if not self._model and isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        first = self._choices.first_of(objects_in(chunk, "choices"))
        return first is not None and self._add_choice(first, live)

    def _add_usage(self, chunk: Mapping[str, Any]) -> None:
        """Take the largest usage and the newest tier; Groq reports usage in `x_groq`, some servers in the choice."""
        usage = chunk.get("usage")
        if not usage and "x_groq" in chunk:
            usage = as_object(chunk["x_groq"]).get("usage") or usage
        choices = chunk.get("choices")
        if usage is None and isinstance(choices, list) and choices:
            usage = as_object(cast("list[object]", choices)[0]).get("usage")
        if usage is not None:
            self._usage = larger(self._usage, read_usage(usage))
        if "service_tier" in chunk or "service_tier" in as_object(usage):
            self._tier = tier_of(chunk.get("service_tier"), as_object(usage).get("service_tier")) or self._tier

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        texts: list[str] = []
        continued: int | None = None
        for event in events if self._has_deltas and self.reason is None else ():
            chunk = read_text_chunk(event)
            if chunk is None or (chunk.id, chunk.system_fingerprint) != (self._id, self._fingerprint):
                break
            index, text = chunk.piece
            if (chunk.model and not self._model) or (texts and index != continued):
                break
            if not self._said.has_begun(index):
                break
            continued = index
            texts.append(text)
        if texts:
            self._said.continue_with(texts, continued, live.show)
        return len(texts)

    def _change_id(self, identity: str) -> None:
        """Accept another chunk id, since some servers number chunks; a recurring id means a second answer."""
        if identity in self._earlier_ids:
            raise unread("the chunks of two answers are mixed")
        self._earlier_ids.add(identity)
        self._id = identity

    def message(self) -> dict[str, Any]:
        streamed = self._said
        if not self._is_begun:
            raise unread("the answer has no message")
        self._choices.check_ended()
        is_cut = CHAT.finishes.get((self.reason or "").strip().lower()) in CUT
        if self._restated is not None and not streamed.agrees_with(self._restated, is_cut=is_cut):
            raise unread("the whole message is not what was streamed")
        said = streamed.message(is_cut=is_cut)
        return said | {"model": self._model, "logprobs": self._logprobs, "tier": self._tier}

    def read(self, message: dict[str, Any], finish: str, accepted: Accepted) -> Reply:
        for kind in self._said.unknown:
            accepted.skip(kind)
        content, reasoning, calls = message["content"], message["reasoning"], message["tool_calls"]
        if not ((content or "").strip() or calls) and finish not in CUT:
            refuse_unknown(self._said.unread, frozenset(), "the message says nothing, but")
        logprobs, flags = read_logprobs(message["logprobs"], openai_tokens)
        return Reply(
            content=content,
            tool_calls=tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in calls),
            reasoning=reasoning,
            finish=finish,
            usage=self._usage,
            model=message["model"],
            flags=(*self._said.flags, *flags),
            native=native_of(message["returned"], {call["id"]: call["returned"] for call in calls if call["returned"]}),
            logprobs=logprobs,
            tier=message["tier"],
        )

    def _add_choice(self, choice: dict[str, Any], live: LiveTexts) -> bool:
        if reports_error(choice, in_answer=True):
            raise fault_of(provider_error_of(live.redact.value(choice)))
        delta, message, text = object_in(choice, "delta"), object_in(choice, "message"), text_in(choice, "text")
        # Gemini's OpenAI-style API has sent `finishReason` next to an empty `finish_reason`.
        reason = text_in(choice, "finish_reason") or text_in(choice, "finishReason")
        if delta is not None or message or text is not None:
            self._is_begun = True
        elif not reason and _FILTER_RESULTS.isdisjoint(choice):
            raise unread("a choice of the answer has no message")
        if (logprobs := choice.get("logprobs")) is not None and (message is None or not self._has_deltas):
            self._logprobs.append(logprobs)
        is_new = self._add_message(delta, message, live)
        if text is not None:
            is_new = self._add_text(text, delta or message or {}, live) or is_new
        if reason:
            check_native(reason, text_in(choice, "native_finish_reason"))
            self.reason = reason
        return is_new or bool(reason)

    def _add_text(self, text: str, part: dict[str, Any], live: LiveTexts) -> bool:
        """Add the text of a text completion; Together AI also sends it next to deltas, which must then be equal."""
        if not any(part.get(name) for name in _SAYING):
            return self._said.add_text("text", text, live.show)
        if text and part.get("content") not in (None, "", text):
            raise unread("the text of a choice is not that of its delta")
        return False

    def _add_message(self, delta: dict[str, Any] | None, message: dict[str, Any] | None, live: LiveTexts) -> bool:
        if delta is not None:
            self._has_deltas = True
            if message is not None and any(message.get(name) != delta.get(name) for name in ("content", "tool_calls")):
                self._restated = message
            return self._said.add(delta, live.show)
        if message is not None and not self._has_deltas:
            return self._said.add(message, live.show, is_whole=True)
        self._restated = message or self._restated
        return False


_SAYING = ("content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call")
"""Fields of a message or delta with content."""
_SILENT_FIELDS = frozenset(
    {
        *(*_SAYING, "role", "name", "id", "prefix", "signature", "reasoning_details", "thinking_blocks"),
        *("reasoning_signature", "encrypted_content", "annotations", "citations", "context", "token_ids"),
        *("extra_content", "provider_specific_fields", "content_filter_results", "content_filter_offsets"),
    }
)
"""Fields of a message that are read, or that carry no content even by themselves."""
_CALL_FIELDS = frozenset({"id", "index", "type", "function", "name", "arguments", "description", "strict"}) | frozenset(
    {"extra_content", "provider_specific_fields", "thought_signature"}
)
"""Fields of a call and its function that cannot contain arguments."""
_FILTER_RESULTS = frozenset({"content_filter_results", "content_filter_offsets"})
"""Fields in which Azure reports on its filter, in separate chunks."""
_SILENT_PARTS = ("reference", "tool_reference", "redacted_thinking")
"""Types of content parts to ignore: Mistral's citations, and thoughts that only the provider can read."""
_Show = Callable[[str, object], bool]
"""Shows new text of a kind; returns True if there was any."""


class _Said:
    """Content of a message, whole or joined from its deltas."""

    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.unknown: list[str] = []
        """Unknown types of parts."""
        self._texts: dict[str, list[str]] = {"text": [], "reasoning": []}
        self.unread: dict[str, object] = {}
        """Fields not read by any code here."""
        self._has_content = False
        self._calls = _CallCollector()
        self._returned = ReturnedFields()

    def add(self, part: dict[str, Any], show: _Show, *, is_whole: bool = False) -> bool:
        """Add a delta or a whole message; return True if it had content."""
        is_new = False
        refuse_other_roles(part)
        self._returned.add(part)
        if not part.keys() <= _SILENT_FIELDS:
            self.unread |= {name: value for name, value in part.items() if name not in _SILENT_FIELDS}
        if thinking := text_in(part, "reasoning_content") or text_in(part, "reasoning"):
            is_new = self.add_text("reasoning", thinking, show)
        content, calls = part.get("content"), objects_in(part, "tool_calls")
        if content is not None and not (calls and content == []):
            is_new = self._add_content(content, show) or is_new
        if refusal := text_in(part, "refusal"):
            self.flags.add("refusal")
            is_new = self.add_text("text", refusal, show) or is_new
        function = object_in(part, "function_call")  # the older format that some servers still use
        if calls:
            if function and all(function != call.get("function") for call in calls):
                raise unread("the call of the older format is not among the calls")
            is_new = show("tool", self._calls.add(calls, is_whole=is_whole)) or is_new
        elif function:
            is_new = show("tool", self._calls.add([{"index": 0, "function": function}])) or is_new
        return is_new

    def add_text(self, kind: str, text: str, show: _Show) -> bool:
        """Add a text of the kind `text` or `reasoning`."""
        if kind == "text":
            self._has_content = True
        if text:
            self._texts[kind].append(text)
        return show(kind, text)

    def has_begun(self, index: int | None) -> bool:
        """Return whether a piece of the call with this index, or of the text, continues what is there."""
        return index is None or index in self._calls.by_index

    def continue_with(self, texts: list[str], index: int | None, show: _Show) -> None:
        """Add pieces to the arguments of the call with this index; None adds them to the text."""
        text = "".join(texts)
        if index is None:
            self.add_text("text", text, show)
        else:
            self._calls.by_index[index].arguments += texts
            show("tool", text)

    def message(self, *, is_cut: bool) -> dict[str, Any]:
        content = "".join(self._texts["text"]) if self._has_content else None
        calls, has_repeated = self._calls.calls(is_cut=is_cut)
        if has_repeated:
            self.flags.add(REPEATED)
        reasoning, returned = "".join(self._texts["reasoning"]), self._returned.fields()
        return {"content": content, "reasoning": reasoning, "tool_calls": calls, "returned": returned}

    def agrees_with(self, restated: dict[str, Any], *, is_cut: bool) -> bool:
        """Return whether the whole message has the same content, or none."""
        other = _Said()
        other.add(restated, lambda kind, text: False, is_whole=True)
        self.unknown += other.unknown
        ours, theirs = self.message(is_cut=is_cut), other.message(is_cut=is_cut)
        is_same_text = all(agree(theirs[name] or "", ours[name] or "") for name in ("content", "reasoning"))
        calls, other_calls = ([(call["name"], call["arguments"]) for call in it["tool_calls"]] for it in (ours, theirs))
        return is_same_text and other_calls in ([], calls)

    def _add_content(self, content: object, show: _Show) -> bool:
        if isinstance(content, str):
            self._returned.add_text(content)
            return self.add_text("text", content, show)
        if not isinstance(content, list):
            raise unread(f"the answer's content is {type(content).__name__}, not text")
        if not content:
            raise unread("the answer's content is an empty list")
        self._returned.add_parts(cast(list[Any], content))
        is_new = False
        for part in cast(list[Any], content):
            if isinstance(part, str):
                is_new = self.add_text("text", part, show) or is_new
            elif isinstance(part, dict):
                is_new = self._add_part(cast(dict[str, Any], part), show) or is_new
            else:
                raise unread(f"a part of the answer's content is {type(part).__name__}, not text")
        return is_new

    def _add_part(self, part: dict[str, Any], show: _Show) -> bool:
        """Add a part of a content, such as `{"type": "thinking", "thinking": [{"text": …}]}`."""
        if (text := text_in(part, "text")) is not None:
            return self.add_text("text", text, show)
        if (refusal := text_in(part, "refusal")) is not None:
            return self.add({"refusal": refusal}, show)
        if isinstance(thinking := part.get("thinking"), str):
            return self.add_text("reasoning", thinking, show)
        if thoughts := objects_in(part, "thinking") or objects_in(part, "summary"):
            return self.add_text("reasoning", "".join(text_in(thought, "text") or "" for thought in thoughts), show)
        kind = name_in(part, "type")
        if kind in ("text", "refusal", "thinking"):
            raise unread("a part of the answer's content has no text")
        if kind not in _SILENT_PARTS:
            self.unknown.append(kind)
        return False


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: list[str] = field(default_factory=list[str])
    """Pieces, joined at the end like those of the arguments."""
    name_length: int = 0
    arguments: list[str] = field(default_factory=list[str])
    has_object: bool = False
    """True if the arguments arrived as an object, which is complete by itself."""
    returned: dict[str, Any] = field(default_factory=dict[str, Any])
    """Fields that go back with the call."""
    unread: dict[str, object] = field(default_factory=dict[str, object])
    """Fields not read by any code here."""

    def add_name(self, name: str, *, is_head: bool) -> None:
        """Add a piece of the name, unless a server repeats the whole name.

        Args:
            name: the piece.
            is_head: True if the call's id comes with it, as at the beginning of a call.

        Raises:
            Fault: it belongs to another call, or repeats the name so far.
        """
        whole = "".join(self.name) if self.name_length <= len(name) or self.arguments or is_head else ""
        if whole == name:
            return
        if whole and (self.arguments or is_head or name.startswith(whole)):
            raise unread("a tool call has two names")
        self.name.append(name)
        self.name_length += len(name)


class _CallCollector:
    """Collects the native tool calls of one reply from the deltas in which servers stream them.

    The arguments stay as the model wrote them, right or wrong; suites judge them. Only the envelope is normalized:
    missing indexes, missing ids, arguments sent as an object instead of a string.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        """The newest call with each index."""
        self._by_id: dict[str, _Call] = {}
        """The first call with each id."""

    def add(self, deltas: list[dict[str, Any]], *, is_whole: bool = False) -> str:
        """Add the `tool_calls` of a delta or a whole message; return the new text to show."""
        if len(deltas) > 1 and not is_whole:
            named = [repr(delta) for delta in deltas if delta.get("id")]
            if len(set(named)) < len(named):
                raise unread("a tool call is there twice")
        return "".join(self._add_delta(delta, is_whole=is_whole) for delta in deltas)

    def _add_delta(self, delta: dict[str, Any], *, is_whole: bool) -> str:
        function = object_in(delta, "function") or {}
        identity, name = text_in(delta, "id") or "", text_in(function, "name") or ""
        index = delta.get("index")
        if index is not None and type(index) is not int:
            raise unread("the index of a tool call is not a number")
        call, is_new = (self._begin(), True) if is_whole else self._find_or_begin(index, identity, name)
        is_head = bool(identity) and identity == call.id
        if identity and not call.id:
            call.id = identity
            self._by_id.setdefault(identity, call)
        if name:
            call.add_name(name, is_head=is_head)
        call.returned |= returned_of_call(delta)
        for fields in (delta, function):
            if not fields.keys() <= _CALL_FIELDS:
                call.unread |= {name: value for name, value in fields.items() if name not in _CALL_FIELDS}
        arguments = function.get("arguments")
        piece = _arguments(arguments)
        if not (piece or name or identity):
            refuse_unknown(function | delta, _CALL_FIELDS, "a piece of a tool call")
        if piece:
            call.arguments.append(piece)
            call.has_object = call.has_object or isinstance(arguments, dict)
        return (("\n" if len(self._calls) > 1 else "") + name + " " if is_new else "") + piece

    def _find_or_begin(self, index: int | None, identity: str, name: str) -> tuple[_Call, bool]:
        """Return the call that a delta continues, or a new one; True if it is new."""
        if index is not None:
            call = self.by_index.get(index)
            # Some servers give every call the index 0 and distinguish them by id alone.
            if call is not None and not (identity and call.id and identity != call.id and name):
                return call, False
            self.by_index[index] = call = self._begin()
            return call, True
        call = self._by_id.get(identity)
        if call is not None:
            return call, False
        if self._calls and not identity and not name:
            return self._calls[-1], False
        return self._begin(), True

    def _begin(self) -> _Call:
        call = _Call()
        self._calls.append(call)
        return call

    def calls(self, *, is_cut: bool) -> tuple[list[dict[str, Any]], bool]:
        """Return the calls, and whether arguments that arrived twice were read once.

        A missing id is replaced by the call's number, since its result must name it.
        """
        calls: list[dict[str, Any]] = []
        has_repeated = False
        for number, call in enumerate(self._calls):
            if not call.arguments:
                refuse_unknown(call.unread, frozenset(), "a tool call without arguments")
            joined = "".join(call.arguments)
            arguments = read_once(joined, is_cut=is_cut)
            if arguments == joined and call.has_object and len(call.arguments) > 1:
                raise unread("the arguments of a tool call are an object and more")
            if arguments == joined and not is_cut:
                check_pieces(call.arguments)
            has_repeated = has_repeated or arguments != joined
            head = {"id": call.id or f"call_{number}", "name": "".join(call.name)}
            calls.append({**head, "arguments": arguments, "returned": call.returned})
        return calls, has_repeated


def _arguments(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, dict):
        raise unread(f"the arguments of a tool call are {type(value).__name__}, not text")
    return json.dumps(value, ensure_ascii=False)


CHAT_API = ProviderApi(
    path="chat/completions", body=chat_body, events=SseReader, assembly=ChatAssembly, gives_logprobs=True
)
WRITER_API = ProviderApi(path="chat", body=chat_body, events=SseReader, assembly=ChatAssembly)
COMPLETIONS_API = ProviderApi(
    path="completions", body=_completion_body, events=SseReader, assembly=ChatAssembly, gives_logprobs=True
)
"""Text completions, only for suites that build whole prompts."""
