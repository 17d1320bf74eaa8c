"""Function documents as tools of services that are given less than the official conversion knows.

Source: BFCL v4, `convert_to_tool`: some services are told a function's response, and Gemini the finer points of its
parameters, in the description.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.conversation.rendering import Doc
from console.benchmarks.bfcl.conversation.tools import native_tools
from console.benchmarks.bfcl.models.handlers.services import Service

_TOLD = {
    "default": "Default is",
    "optional": "Optional",
    "required": "Required",
    "maximum": "Maximum value",
    "minItems": "Minimum number of items",
    "maxItems": "Maximum number of items",
    "additionalProperties": "Additional properties",
}
"""Fields of a parameter that move into its description, in this order, by what is written there."""


def service_tools(docs: Sequence[Doc], service: Service, *, plain_parameters: bool) -> list[dict[str, Any]]:
    """Return the (hinted) documents as tools.

    Args:
        docs: what is on offer.
        service: what it is told apart.
        plain_parameters: whether the finer points of top-level parameters move into their descriptions.
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
