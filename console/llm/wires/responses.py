"""The OpenAI Responses API: `POST /responses`, streamed as typed events.

Source: the published API, and the requests of the official BFCL handler. The provider stores nothing (`store: false`),
so reasoning travels encrypted and every output item is sent back unchanged.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall
from console.llm.transport.events import SseReader
from console.llm.transport.faults import fault_of, provider_error_of
from console.llm.wires.completeness import COMMENTARY, RESPONSES, agree
from console.llm.wires.content_parts import MediaData, mapped, text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.logprobs import for_responses, openai_tokens, read_logprobs
from console.llm.wires.parts import (
    NONE_ACCEPTED,
    Accepted,
    name_in,
    object_in,
    objects_in,
    refuse_other_roles,
    text_in,
    unread,
)
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.repeated_arguments import check_pieces
from console.llm.wires.request_body import as_accepted, native_content
from console.llm.wires.surrogates import repair_surrogates
from console.llm.wires.usage import read_usage, tier_of

NATIVE = "responses"
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tool",
}
_SILENT_ITEMS = (
    *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
    *("mcp_list_tools", "mcp_call", "compaction"),
)
"""Items added by the provider; those of any other unknown type may be answers."""
_FINAL = "final_answer"
"""Phase of the messages that are the answer; without one, all messages are but those of the phase `commentary`."""
_NAME = "the Responses API"
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_WHOLE_TEXTS = {"response.output_text.done": "text", "response.function_call_arguments.done": "arguments"}
"""Fields with the whole text of a part, by type of event."""


def responses_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /responses`; settings of None are omitted."""
    body: dict[str, Any] = {
        "model": model.model_id,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
        "temperature": model.temperature,
        "max_output_tokens": model.max_tokens,
    }
    if request.tools:
        body["tools"] = [{**tool["function"], "type": "function"} for tool in request.tools]
    body = for_responses(body | model.params | request.params)
    return {name: value for name, value in body.items() if value is not None}


def _items(message: Message) -> Iterator[Any]:
    role, content = message["role"], message.get("content")
    items = native_content(message, NATIVE)
    if isinstance(items, list):
        yield from items
    elif role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.get("tool_call_id", ""),
            "output": text_only(message, _NAME),
        }
    else:
        if content is not None or not message.get("tool_calls"):
            parts = content if isinstance(content, str) or not content else mapped(message, _text, _media, _NAME)
            yield {"role": "developer" if role == "system" else role, "content": parts or ""}
        for call in message.get("tool_calls", ()):
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def _media(part: MediaData) -> dict[str, Any] | None:
    url = part.data if part.is_link else f"data:{part.media_type};base64,{part.data}"
    match part.kind:
        case "image":
            return {"type": "input_image", "image_url": url}
        case "file":
            return {"type": "input_file"} | (
                {"file_url": url} if part.is_link else {"filename": part.name, "file_data": url}
            )
        case _:
            return None


def read_response(message: Mapping[str, Any], finish: str, accepted: Accepted = NONE_ACCEPTED) -> Reply:
    """Return the reply in a complete response.

    Raises:
        Fault: the response has no readable output.
    """
    if message.get("output") is None:
        raise unread("the response has no output")
    items = objects_in(message, "output")
    phases = {item.get("phase") for item in items if item.get("type") == "message"}
    of_answer = {_FINAL} if _FINAL in phases else phases - {COMMENTARY} or phases
    reading = _Reading(accepted, is_whole=finish == "stop", of_answer=of_answer)
    for item in items:
        reading.add(item)
    calls = tuple(reading.calls)
    logprobs, flags = read_logprobs(reading.logprobs, openai_tokens)
    return Reply(
        content="".join(reading.texts) if reading.texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(reading.thoughts),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=read_usage(message.get("usage")),
        model=str(message.get("model", "")),
        flags=(*reading.flags, *flags),
        native={"api": NATIVE, "content": [_without_logprobs(item) for item in items] if reading.logprobs else items},
        logprobs=logprobs,
        tier=tier_of(message.get("service_tier")),
    )


def _without_logprobs(item: dict[str, Any]) -> dict[str, Any]:
    """Return an output item to send back, without log probabilities, which are kept once, in the reply."""
    if item.get("type") != "message":
        return item
    parts = objects_in(item, "content")
    return item | {"content": [{key: part[key] for key in part if key != "logprobs"} for part in parts]}


class _Reading:
    """Reads the items of an output."""

    def __init__(self, accepted: Accepted, *, is_whole: bool, of_answer: set[Any]) -> None:
        self.texts: list[str] = []
        self.has_commentary = False
        """True if texts before the final answer are among the thoughts."""
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []
        self.logprobs: list[object] = []
        self.has_refused = False
        self._accepted, self._is_whole, self._of_answer = accepted, is_whole, of_answer
        self._by_id: dict[str, dict[str, Any]] = {}

    @property
    def flags(self) -> tuple[str, ...]:
        return ("refusal",) * self.has_refused + (COMMENTARY,) * self.has_commentary

    def add(self, item: dict[str, Any]) -> None:
        kind, identity = item.get("type"), text_in(item, "id")
        if identity and self._by_id.setdefault(identity, item) is not item and self._by_id[identity] == item:
            raise unread("the output has an item twice")
        if kind in ("message", "function_call"):
            status = text_in(item, "status")
            if self._is_whole and status not in (None, "completed"):
                raise unread(f"the response is complete, but a {kind} in it is not")
        if kind == "message":
            refuse_other_roles(item)
            before = len(self.texts)
            self._add_message(objects_in(item, "content"))
            if item.get("phase") not in self._of_answer:
                self.has_commentary = True
                self.thoughts += [f"{text}\n" for text in self.texts[before:]]
                del self.texts[before:]
        elif kind == "function_call":
            self._add_call(item)
        elif kind == "reasoning":
            parts = objects_in(item, "content") + objects_in(item, "summary")
            self.thoughts += [f"{text_in(part, 'text') or ''}\n" for part in parts]
        elif kind not in _SILENT_ITEMS:
            self._accepted.skip(name_in(item, "type"))

    def _add_call(self, item: dict[str, Any]) -> None:
        arguments = text_in(item, "arguments")
        if arguments is None:
            raise unread("a function_call has no arguments")
        self.calls.append(ToolCall(name_in(item, "call_id"), name_in(item, "name"), arguments))

    def _add_message(self, parts: list[dict[str, Any]]) -> None:
        if not parts and self._is_whole:
            raise unread("a message in the output has no content")
        for part in parts:
            kind = name_in(part, "type")
            field = {"output_text": "text", "refusal": "refusal"}.get(kind)
            if field is None:
                self._accepted.skip(kind)
                continue
            text = text_in(part, field)
            if text is None:
                raise unread("a message in the output has a part without text")
            self.texts.append(text)
            if part.get("logprobs"):
                self.logprobs.append({"content": part["logprobs"]})
            self.has_refused = self.has_refused or field == "refusal"


class _ResponseAssembly:
    """Takes the whole response from the last event; earlier events are shown and must agree with it."""

    ends = RESPONSES
    read = staticmethod(read_response)

    def __init__(self) -> None:
        self.reason: str | None = None
        self._response: dict[str, Any] = {}
        self._names: list[str] = []
        self._arguments: dict[str, list[str]] = {}
        """Pieces by id of the item, empty where the server names none."""
        self._whole: list[str] = []
        """Texts and arguments that the server has marked as complete."""

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return chunk.get("object") == "response" or str(chunk.get("type")).startswith("response.")

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind = str(chunk.get("type"))
        if chunk.get("object") == "response":
            return self._finish(chunk, live)
        if kind == "response.output_item.added":
            return self._begin_item(object_in(chunk, "item") or {}, live)
        if kind in _ENDS:
            return self._finish(object_in(chunk, "response") or {}, live, kind.removeprefix("response."))
        if kind in _WHOLE_TEXTS:
            self._whole.append(text_in(chunk, _WHOLE_TEXTS[kind]) or "")
        elif kind == "response.output_item.done":
            self._whole += _texts_of(object_in(chunk, "item") or {})
        if kind not in _DELTAS:
            return False
        text = text_in(chunk, "delta")
        if text and _DELTAS[kind] == "tool":
            self._arguments.setdefault(text_in(chunk, "item_id") or "", []).append(text)
        return live.show(_DELTAS[kind], text)

    def _begin_item(self, item: dict[str, Any], live: LiveTexts) -> bool:
        if item.get("type") != "function_call":
            return False
        if name := text_in(item, "name"):
            self._names.append(name)
        return live.show("tool", f"{name or ''}(")

    def _finish(self, response: Mapping[str, Any], live: LiveTexts, wanted: str = "") -> bool:
        if self._response:
            raise unread("the answer ends twice")
        if wanted and response.get("status") not in (None, wanted):
            raise unread(f"the last event says that the answer is {wanted}, its status says otherwise")
        if response.get("error"):
            raise fault_of(provider_error_of(live.redact.value(dict(response))))
        status, details = text_in(response, "status"), object_in(response, "incomplete_details") or {}
        detail = text_in(details, "reason")
        self.reason = f"{status}: {detail}" if status and detail else status
        self._response = dict(response)
        return True

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        return 0

    def message(self) -> dict[str, Any]:
        items = objects_in(self._response, "output")
        if not items and self.reason == "completed":
            raise unread("the response is complete, but has no output")
        calls = [item for item in items if item.get("type") == "function_call"]
        for identity, pieces in self._arguments.items():
            if identity and self.reason == "completed":
                check_pieces(pieces)
        streamed = "".join(piece for pieces in self._arguments.values() for piece in pieces)
        whole = "".join(text_in(call, "arguments") or "" for call in calls)
        is_same = agree(repair_surrogates(streamed)[0], repair_surrogates(whole)[0])
        if not is_same or self._names not in ([], [call.get("name") for call in calls]):
            raise unread("the calls that were streamed are not those in the response")
        said = {"".join(text.split()) for item in items for text in _texts_of(item)}
        if not said.issuperset("".join(text.split()) for text in self._whole):
            raise unread("a text or call that was streamed is not in the response")
        return self._response


def _texts_of(item: dict[str, Any]) -> list[str]:
    """Return the texts of a message, or the arguments of a call."""
    if item.get("type") == "function_call":
        return [text_in(item, "arguments") or ""]
    parts = objects_in(item, "content") if item.get("type") == "message" else []
    return [text for part in parts if (text := text_in(part, "text") or text_in(part, "refusal"))]


RESPONSES_API = ProviderApi(
    path="responses",
    body=lambda model, request: as_accepted(model, {"stream": True, **responses_body(model, request)}),
    events=SseReader,
    assembly=_ResponseAssembly,
    gives_logprobs=True,
)
