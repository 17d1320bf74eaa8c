"""Hammer 2.1: one user block with instructions and simplified documents, then the conversation."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.templates.template import PromptInput, Template, system_as_user

_MODULE = "hammer"


def _render(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of(_MODULE, "HammerHandler._format_prompt")
    task = inputs.texts.of(_MODULE, "TASK_INSTRUCTION")[0]
    form = inputs.texts.of(_MODULE, "FORMAT_INSTRUCTION")[0]
    docs = deepcopy(list(inputs.docs))
    tools: list[Doc] = []
    for _ in range(inputs.asked_before + 1):
        # The official code changes the documents in place at every prompt of a conversation.
        tools = [_simplified(doc) for doc in docs]
    yield f"{texts[44]}{texts[38]}{task}{texts[39]}{texts[40]}{json.dumps(tools)}{texts[41]}"
    yield f"{texts[42]}{form}{texts[43]}<|im_end|>\n"
    for message in inputs.messages:
        yield f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n"
    yield "<|im_start|>assistant\n"


def _simplified(doc: Doc) -> Doc:
    """Return the name, description and properties, modified in place: objects flattened, required parameters marked."""
    schema = doc["parameters"]
    parameters: dict[str, Any] = schema.get("properties", {})
    for name, parameter in parameters.items():
        if isinstance(parameter.get("properties"), dict):
            parameters[name] = parameter["properties"]
            for inner in parameter.get("required", []):
                parameters[name][inner]["required"] = True
    for name in schema.get("required", []):
        parameters[name]["required"] = True
    for parameter in parameters.values():
        if "default" in parameter:
            parameter["description"] += f"default is '{parameter['default']}'"
    return {"name": doc["name"], "description": doc["description"], "parameters": parameters}


HAMMER = Template(_render, open_turn=system_as_user, first_turn_only=True)
