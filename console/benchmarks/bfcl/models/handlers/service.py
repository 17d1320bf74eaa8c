"""Handler of models behind a service, with native tools or prompting.

Source: BFCL v4, `convert_to_tool`: for some services the description includes a function's response, for Gemini also
further attributes of its parameters.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.handlers.generic import native_results, written_results
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn
from console.benchmarks.bfcl.models.handlers.reply_readings import ReplyReading
from console.benchmarks.bfcl.models.handlers.services import Service
from console.benchmarks.bfcl.models.templates.template import users_merged
from console.core.chat import Message, Reply


@dataclass(frozen=True, slots=True)
class ServiceHandler:
    """Handler of one registry row."""

    service: Service
    reading: ReplyReading
    native: bool
    reasons: bool
    """Enable reasoning."""
    plain_parameters: bool
    executable: Callable[[Any], list[str]]
    call_format: str = ""

    @property
    def described_in_prompt(self) -> bool:
        return not self.native

    def params(self, *, long: bool) -> Mapping[str, Any]:
        service = self.service
        fields = {**(service.native if self.native else service.prompting)}
        if self.reasons:
            fields |= service.reasoning
        if long:
            fields |= service.long
        if self.native and service.always_tools:
            fields.setdefault("tools", [])
        return fields

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del number, docs
        fields = self.service.answer_fields
        turn = [{**message, **(fields if message["role"] == "assistant" else {})} for message in messages]
        merges = self.service.merges_native_users if self.native else self.service.merges_users
        return users_merged(turn) if merges else turn

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        if not self.native:
            return []
        return service_tools(docs, self.service, plain_parameters=self.plain_parameters)

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
        shown = native_results(answer, results)
        if self.service.names_results:
            for message, call in zip(shown, answer.get("tool_calls", ()), strict=False):
                message["name"] = call["function"]["name"]
        return shown


_TOLD = {
    "default": "Default is",
    "optional": "Optional",
    "required": "Required",
    "maximum": "Maximum value",
    "minItems": "Minimum number of items",
    "maxItems": "Maximum number of items",
    "additionalProperties": "Additional properties",
}
"""Text in the description by moved parameter field, in order."""


def service_tools(docs: Sequence[Doc], service: Service, *, plain_parameters: bool) -> list[dict[str, Any]]:
    """Convert documents with hints to tools.

    Args:
        docs: the available functions.
        service: the service with its format.
        plain_parameters: move further attributes of top-level parameters to their descriptions.
    """
    tools = native_tools(docs)
    for tool, doc in zip(tools, docs, strict=True):
        function = cast(dict[str, Any], tool["function"])
        if service.dotted_names:
            function["name"] = doc["name"]
        if plain_parameters:
            _make_plain(function["parameters"])
        if service.response != "field" and "response" in function:
            shown = json.dumps(function.pop("response"))
            if service.response == "description":
                function["description"] += f" The response field has the following schema: {shown}"
    return tools


def _make_plain(parameters: dict[str, Any]) -> None:
    parameters.pop("optional", None)
    for parameter in cast(Mapping[str, dict[str, Any]], parameters["properties"]).values():
        parameter.setdefault("description", "")
        for field, words in _TOLD.items():
            _tell(parameter, field, words)
        if parameter.get("type") != "string":
            _tell(parameter, "enum", "Enum values")
        else:
            _tell(parameter, "format", "Format")


def _tell(parameter: dict[str, Any], field: str, words: str) -> None:
    if field in parameter:
        parameter["description"] += f" {words}: {parameter.pop(field)}."
