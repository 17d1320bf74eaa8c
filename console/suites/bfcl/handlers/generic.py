"""The two ways of models without a row in the registry: native tools, or prompting, over chat messages."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from console.core.chat import Message, Reply, ToolCall
from console.suites.bfcl.execution import executable_calls
from console.suites.bfcl.handlers.handler import Answer, Handler, Turn
from console.suites.bfcl.rendering import Doc
from console.suites.bfcl.tools import native_tools


def _as_text(call: ToolCall) -> dict[str, Any]:
    return {call.name: call.arguments}


def _as_object(call: ToolCall) -> dict[str, Any]:
    return {call.name: _value(call.arguments)}


def _as_parameters(call: ToolCall) -> dict[str, Any]:
    return {"tool_name": call.name, "parameters": _value(call.arguments)}


def _value(arguments: str) -> Any:
    """Return arguments as an object; what is no JSON stays as it is, to be refused when it is judged."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


NATIVE_FORMS: dict[str, Callable[[ToolCall], dict[str, Any]]] = {
    "fc_json": _as_text,
    "gemini_fc": _as_object,
    "dictlist": _as_object,
    "cohere": _as_parameters,
}
"""How native calls stand in result files, by decode family."""
_TEXTS_LISTED = ("gemini_fc", "dictlist")
"""Families whose answers without a call are lists of texts."""


class NativeHandler:
    """Functions as tools; results as tool messages."""

    native = True
    described_in_prompt = False

    def __init__(self, family: str = "fc_json") -> None:
        """Take one of `NATIVE_FORMS`: how calls are recorded, and so read."""
        self._family = family

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
        form = NATIVE_FORMS[self._family]
        output = [form(call) for call in reply.tool_calls] or self._without_calls(reply.content)
        return Answer(output, cast(Turn, reply.message()))

    def _without_calls(self, content: str | None) -> Any:
        return [content] if self._family in _TEXTS_LISTED and content is not None else content

    def calls(self, output: Any) -> list[str]:
        return executable_calls(output, self._family)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del calls
        pairs = zip(answer.get("tool_calls", ()), results, strict=False)
        return [{"role": "tool", "content": result, "tool_call_id": call["id"]} for call, result in pairs]


class PromptHandler:
    """Functions described in the system prompt; results written into one user message."""

    native = False
    described_in_prompt = True

    def __init__(self, family: str = "prompt") -> None:
        """Take the decode family of the answers."""
        self._family = family

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
        return executable_calls(output, self._family)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer
        shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=True)]
        return [{"role": "user", "content": repr(shown)}]


GENERIC: dict[str, Handler] = {"fc": NativeHandler(), "prompt": PromptHandler()}
"""By mode."""
