"""Handlers of models without a registry row: native tools or prompting, with chat messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.models.handlers.handler import Answer, Handler, Turn
from console.core.chat import Message, Reply


@dataclass(frozen=True, slots=True)
class GenericHandler:
    """Sends functions and results natively, or as text in messages."""

    native: bool
    call_format: str = ""

    @property
    def described_in_prompt(self) -> bool:
        return not self.native

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        del docs, long
        return {}

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del number, docs
        return [cast(Turn, message) for message in messages]

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        return native_tools(docs) if self.native else []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        calls = [{call.name: call.arguments} for call in reply.tool_calls] if self.native else []
        return Answer(calls or reply.content, cast(Turn, reply.message()))

    def calls(self, output: Any) -> list[str]:
        return executable_calls(output, "fc_json" if self.native else "prompt")

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        return native_results(answer, results) if self.native else written_results(calls, results)


def native_results(answer: Turn, results: Sequence[str]) -> list[Turn]:
    """Return one tool message per result, with the id of its call."""
    pairs = zip(answer.get("tool_calls", ()), results, strict=False)
    return [{"role": "tool", "content": result, "tool_call_id": call["id"]} for call, result in pairs]


def written_results(calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
    """Return one user message with all calls and results, like the official prompting loop."""
    shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=True)]
    return [{"role": "user", "content": repr(shown)}]


GENERIC: dict[str, Handler] = {"fc": GenericHandler(native=True), "prompt": GenericHandler(native=False)}
"""Handler by mode."""
