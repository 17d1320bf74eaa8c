"""The OpenAI Responses API: `POST /responses`, streamed as typed events."""

from collections.abc import Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.core.chat import ChatRequest
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.message_builder import MessageBuilder, is_of_type
from console.llm.wires.provider_api import OnText
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


class ResponsesApi:
    """Responses of OpenAI and of servers that offer the same."""

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        del model, streamed
        return "responses"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        return as_accepted(model, {"stream": True, **responses_body(model, request)})

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True

    def builder(self, on_text: OnText, redact: Redactor) -> MessageBuilder:
        return MessageBuilder(_ResponseAssembly(), read_response, on_text, redact)


class _ResponseAssembly:
    """The last event holds the whole response; what comes before is only shown."""

    def __init__(self) -> None:
        self.message: dict[str, Any] | None = None

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return chunk.get("object") == "response" or is_of_type(chunk, "response.")

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind = chunk.get("type")
        if chunk.get("object") == "response":
            self.message = dict(chunk)
            return True
        if kind == "response.output_item.added":
            item = chunk.get("item")
            named = cast(dict[str, Any], item).get("name") if isinstance(item, dict) else None
            return live.show("tool", f"{named}(" if isinstance(named, str) else None)
        if kind in _ENDS and isinstance(chunk.get("response"), dict):
            self.message = cast(dict[str, Any], chunk["response"])
            return True
        return live.show(_DELTAS[kind], chunk.get("delta")) if kind in _DELTAS else False
