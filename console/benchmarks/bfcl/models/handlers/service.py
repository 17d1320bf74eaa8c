"""Handler for models behind a service, with native tools or prompting.

Source: BFCL v4, `convert_to_tool`: for some services the description includes a function's response, for Gemini also
further attributes of its parameters.
"""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.handlers.generic import native_results, written_results
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn, answers_may_break
from console.benchmarks.bfcl.models.handlers.reply_readings import ReplyReading
from console.benchmarks.bfcl.models.handlers.services import Service
from console.benchmarks.bfcl.models.templates.template import users_merged
from console.core.chat import Message, Reply


@dataclass(frozen=True, slots=True)
class ServiceHandler:
    """Handler for one registry row."""

    service: Service
    reading: ReplyReading
    native: bool
    reasons: bool
    """Enable reasoning."""
    executable: Callable[[Any], list[str]]
    call_format: str = ""

    @property
    def described_in_prompt(self) -> bool:
        return not self.native

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        service = self.service
        fields = {**(service.native if self.native else service.prompting)}
        if self.reasons:
            fields |= service.reasoning
        if long:
            fields |= service.long
        if self.native and service.always_tools:
            fields.setdefault("tools", [])
        if self.native and docs:
            fields |= service.with_tools
        return fields

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del docs
        fields = self.service.answer_fields
        turn = [{**message, **(fields if message["role"] == "assistant" else {})} for message in messages]
        if number and self.service.ends_with_user and (not turn or turn[-1]["role"] != "user"):
            turn.append({"role": "user", "content": ""})
        merges = self.service.merges_native_users if self.native else self.service.merges_users
        return users_merged(turn) if merges else turn

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        if not self.native:
            return []
        return service_tools(docs, self.service)

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        return (self.reading.native if self.native else self.reading.prompting)(reply, self.service)

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        if not self.native:
            return written_results(calls, results)
        if self.service.hides_text:
            return [{"role": "tool", "content": text} for text in results]
        if self.service.rewrites_results:
            with answers_may_break():
                results = [_rewritten(text) for text in results]
        shown = native_results(answer, results)
        if self.service.names_results:
            for message, call in zip(shown, answer.get("tool_calls", ()), strict=False):
                message["name"] = call["function"]["name"]
        return shown


def _rewritten(result: str) -> str:
    """Return the result of a call as JSON if it is a literal object, with `ID` for `id` (Cohere)."""
    try:
        value = ast.literal_eval(result)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return result
    if not isinstance(value, dict):
        return result
    fields = cast(dict[str, Any], value)
    if "id" in fields:
        fields["ID"] = fields.pop("id")
    return json.dumps(fields)


_FIELD_WORDS = {
    "default": "Default is",
    "optional": "Optional",
    "required": "Required",
    "maximum": "Maximum value",
    "minItems": "Minimum number of items",
    "maxItems": "Maximum number of items",
    "additionalProperties": "Additional properties",
}
"""Text in the description by moved parameter field, in order."""


def service_tools(docs: Sequence[Doc], service: Service) -> list[dict[str, Any]]:
    """Convert documents with hints to tools in the format of a service."""
    tools = native_tools(docs)
    for tool, doc in zip(tools, docs, strict=True):
        function = cast(dict[str, Any], tool["function"])
        if service.dotted_names:
            function["name"] = doc["name"]
        if service.plain_parameters:
            _make_plain(function["parameters"], string_enums=service.plain_parameters == "all")
        if service.response != "field" and "response" in function:
            shown = json.dumps(function.pop("response"))
            if service.response == "description":
                function["description"] += f" The response field has the following schema: {shown}"
    return tools


def _make_plain(parameters: dict[str, Any], *, string_enums: bool) -> None:
    parameters.pop("optional", None)
    for parameter in cast(Mapping[str, dict[str, Any]], parameters["properties"]).values():
        parameter.setdefault("description", "")
        for field, words in _FIELD_WORDS.items():
            _tell(parameter, field, words)
        if string_enums or parameter.get("type") != "string":
            _tell(parameter, "enum", "Enum values")
        if parameter.get("type") == "string":
            _tell(parameter, "format", "Format")


def _tell(parameter: dict[str, Any], field: str, words: str) -> None:
    if field in parameter:
        parameter["description"] += f" {words}: {parameter.pop(field)}."
