"""The OpenAI Responses API: `POST /responses`, streamed as typed events."""

from collections.abc import Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.llm.transport.events import SseReader
from console.llm.transport.faults import fault_of, provider_error_of
from console.llm.wires.completeness import RESPONSES
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.request_body import as_accepted
from console.llm.wires.responses.conversion import read_response, responses_body

_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tool",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class _ResponseAssembly:
    """The last event holds the whole response; what comes before is only shown."""

    ends = RESPONSES

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
            item = chunk.get("item")
            named = cast(dict[str, Any], item).get("name") if isinstance(item, dict) else None
            return live.show("tool", f"{named}(" if isinstance(named, str) else None)
        if kind in _ENDS and isinstance(chunk.get("response"), dict):
            return self._finish(cast(dict[str, Any], chunk["response"]), live)
        return live.show(_DELTAS[kind], chunk.get("delta")) if kind in _DELTAS else False

    def _finish(self, response: Mapping[str, Any], live: LiveTexts) -> bool:
        status, details = str(response.get("status")), response.get("incomplete_details")
        why = cast(dict[str, Any], details).get("reason") if isinstance(details, dict) else None
        reason = f"{status}: {why}" if isinstance(why, str) and status != "completed" else status
        if reason not in RESPONSES.finishes and isinstance(response.get("error"), dict):
            raise fault_of(provider_error_of(live.redact.value(dict(response))))
        self.reason, self._response = reason, dict(response)
        return True

    def message(self) -> dict[str, Any]:
        return self._response

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        return read_response(message, finish)


class ResponsesApi:
    """Responses of OpenAI and of servers that offer the same."""

    events = SseReader
    assembly = _ResponseAssembly

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        del model, streamed
        return "responses"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        return as_accepted(model, {"stream": True, **responses_body(model, request)})

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True
