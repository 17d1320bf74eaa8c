"""The OpenAI APIs that every compatible server offers: chat completions, and the older completions of one text."""

from collections.abc import Mapping
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.llm.transport.events import SseReader
from console.llm.wires.chat.assembly import ChatAssembly
from console.llm.wires.request_body import chat_body, completion_body


class ChatCompletionsApi:
    """Chat completions, as every OpenAI-style server offers them."""

    events = SseReader
    assembly = ChatAssembly

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        del model, streamed
        return "chat/completions"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        return chat_body(model, request)

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True


class CompletionsApi(ChatCompletionsApi):
    """Completions of one text; only a suite that forms whole prompts can ask them."""

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        del model, streamed
        return "completions"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        if any(message["role"] != "prompt" for message in request.messages):
            raise Fault(
                FaultKind.BAD_REQUEST,
                "this provider continues a finished prompt, and was given a conversation",
                hint='Name a row with bfcl_name = "…" for BFCL, or use provider = "openai".',
            )
        return completion_body(model, request)
