"""The OpenAI Responses API: `POST /responses`, streamed as typed events.

Source: the published API, and the requests of the official BFCL handler. The provider stores nothing (`store: false`),
so reasoning travels encrypted and every output item is sent back unchanged.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.events import SseReader
from console.llm.transport.faults import fault_of, provider_error_of
from console.llm.wires.completeness import RESPONSES
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, native_content
from console.llm.wires.usage import read_usage

NATIVE = "responses"
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tool",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def responses_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /responses`; settings of None are left out."""
    body: dict[str, Any] = {
        "model": model.model_id,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
        "temperature": model.temperature,
        "max_output_tokens": model.max_tokens,
    }
    if request.tools:
        body["tools"] = [{**tool["function"], "type": "function"} for tool in request.tools]
    body |= model.params | request.params
    return {name: value for name, value in body.items() if value is not None}


def _items(message: Message) -> Iterator[Any]:
    role, content = message["role"], message.get("content")
    items = native_content(message, NATIVE)
    if isinstance(items, list):
        yield from items
    elif role == "tool":
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id", ""), "output": content or ""}
    else:
        if content is not None or not message.get("tool_calls"):
            yield {"role": "developer" if role == "system" else role, "content": content or ""}
        for call in message.get("tool_calls", ()):
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def read_response(message: Mapping[str, Any], finish: str) -> Reply:
    """Return the reply in a complete response.

    Raises:
        Fault: the response has no output.
    """
    if not isinstance(message.get("output"), list):
        raise Fault(FaultKind.BAD_ANSWER, "the response has no output")
    items = as_objects(message["output"])
    texts = [part["text"] for part in _parts(items, "message", "content") if part.get("type") == "output_text"]
    calls = tuple(
        ToolCall(str(item.get("call_id", "")), str(item.get("name", "")), str(item.get("arguments", "")))
        for item in items
        if item.get("type") == "function_call"
    )
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(f"{part.get('text', '')}\n" for part in _parts(items, "reasoning", "summary")),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=read_usage(message.get("usage")),
        model=str(message.get("model", "")),
        native={"api": NATIVE, "content": items},
    )


def _parts(items: list[dict[str, Any]], kind: str, key: str) -> Iterator[dict[str, Any]]:
    for item in items:
        if item.get("type") == kind:
            yield from as_objects(item.get(key))


class _ResponseAssembly:
    """Takes the whole response from the last event; earlier events are only shown."""

    ends = RESPONSES
    read = staticmethod(read_response)

    def __init__(self) -> None:
        self.reason: str | None = None
        self._response: dict[str, Any] = {}

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return chunk.get("object") == "response" or str(chunk.get("type")).startswith("response.")

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind = chunk.get("type")
        if chunk.get("object") == "response":
            return self._finish(chunk, live)
        if kind == "response.output_item.added":
            name = as_object(chunk.get("item")).get("name")
            return live.show("tool", f"{name}(" if isinstance(name, str) else None)
        if kind in _ENDS and isinstance(chunk.get("response"), dict):
            return self._finish(cast(dict[str, Any], chunk["response"]), live)
        return live.show(_DELTAS[kind], chunk.get("delta")) if kind in _DELTAS else False

    def _finish(self, response: Mapping[str, Any], live: LiveTexts) -> bool:
        status, detail = str(response.get("status")), as_object(response.get("incomplete_details")).get("reason")
        reason = f"{status}: {detail}" if isinstance(detail, str) and status != "completed" else status
        if reason not in RESPONSES.finishes and isinstance(response.get("error"), dict):
            raise fault_of(provider_error_of(live.redact.value(dict(response))))
        self.reason, self._response = reason, dict(response)
        return True

    def message(self) -> dict[str, Any]:
        return self._response


RESPONSES_API = ProviderApi(
    path="responses",
    body=lambda model, request: as_accepted(model, {"stream": True, **responses_body(model, request)}),
    events=SseReader,
    assembly=_ResponseAssembly,
)
