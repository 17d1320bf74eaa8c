"""The two ways of models that name no row of the registry: native tools, or prompting, over chat messages."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.core.chat import Message, Reply
from console.suites.bfcl.execution import executable_calls
from console.suites.bfcl.handlers.handler import Answer, Handler, Turn
from console.suites.bfcl.rendering import Doc
from console.suites.bfcl.tools import native_tools


class NativeHandler:
    """Functions as tools; results as tool messages."""

    native = True
    described_in_prompt = False
    calls_form = ""

    def params(self, *, long: bool) -> Mapping[str, Any]:
        del long
        return {}

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del number, docs
        return [cast(Turn, message) for message in messages]

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        return native_tools(docs)

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        output = [{call.name: call.arguments} for call in reply.tool_calls] or reply.content
        return Answer(output, cast(Turn, reply.message()))

    def calls(self, output: Any) -> list[str]:
        return executable_calls(output, "fc_json")

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del calls
        pairs = zip(answer.get("tool_calls", ()), results, strict=False)
        return [{"role": "tool", "content": result, "tool_call_id": call["id"]} for call, result in pairs]


class PromptHandler:
    """Functions described in the system prompt; results written into one user message."""

    native = False
    described_in_prompt = True
    calls_form = ""

    def params(self, *, long: bool) -> Mapping[str, Any]:
        del long
        return {}

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del number, docs
        return [cast(Turn, message) for message in messages]

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        return Answer(reply.content, cast(Turn, reply.message()))

    def calls(self, output: Any) -> list[str]:
        return executable_calls(output, "prompt")

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer
        shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=True)]
        return [{"role": "user", "content": repr(shown)}]


GENERIC: dict[str, Handler] = {"fc": NativeHandler(), "prompt": PromptHandler()}
"""By mode."""
