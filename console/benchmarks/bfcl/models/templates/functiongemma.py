"""FunctionGemma: declarations, results and calls in its own notation, with texts between `<escape>` tags."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.templates.template import PromptInput, Template, Turn

_NO_PARAMETERS = frozenset({"description", "type", "properties", "required", "nullable"})
"""Parameters with these names are dropped, as in the official code."""


def _text(value: object) -> str:
    return f"<escape>{value}<escape>"


def _texts(values: Sequence[object]) -> str:
    return f"[{','.join(map(_text, values))}]"


def value_text(value: Any, *, plain_keys: bool = False) -> str:
    """Return a value in the notation; keys of objects are sorted, and escaped like texts unless `plain_keys`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return _text(value)
        case list() | tuple():
            items = [value_text(item, plain_keys=plain_keys) for item in cast(Sequence[Any], value)]
            return f"[{','.join(items)}]"
        case dict():
            fields = sorted(cast(dict[str, Any], value).items())
            shown = [
                f"{key if plain_keys else _text(key)}:{value_text(inner, plain_keys=plain_keys)}"
                for key, inner in fields
            ]
            return f"{{{','.join(shown)}}}"
        case _:
            return str(value)


def _declaration(doc: Doc) -> str:
    parts = [f"description:{_text(doc.get('description', ''))}"]
    schema = cast(Mapping[str, Any], doc.get("parameters") or {})
    if schema.get("properties"):
        parts.append(f"properties:{{{_parameters(schema['properties'])}}}")
    if schema.get("required"):
        parts.append(f"required:{_texts(schema['required'])}")
    if "type" in schema:
        parts.append(f"type:{_text(schema['type'].upper())}")
    return f"declaration:{doc.get('name', '')}{{{','.join(parts)}}}"


def _parameters(properties: Mapping[str, Doc]) -> str:
    fields = sorted(properties.items())
    return ",".join(_parameter(name, schema) for name, schema in fields if name not in _NO_PARAMETERS)


def _parameter(name: str, schema: Doc) -> str:
    """Return a parameter; types are those of the dataset, so for its objects (`dict`) only the type is shown."""
    kind = schema.get("type", "").upper()
    parts = [f"description:{_text(schema.get('description', ''))}"]
    if kind == "STRING" and "enum" in schema:
        parts.append(f"enum:{value_text(schema['enum'])}")
    elif kind == "OBJECT":
        parts.append(f"properties:{{{_parameters(schema.get('properties', {}))}}}")
        if schema.get("required"):
            parts.append(f"required:{_texts(schema['required'])}")
    elif kind == "ARRAY" and schema.get("items"):
        items = sorted(cast(Mapping[str, Any], schema["items"]).items())
        parts.append(f"items:{{{','.join(_item_field(key, value) for key, value in items if value is not None)}}}")
    return f"{name}:{{{','.join([*parts, f'type:{_text(kind)}'])}}}"


def _item_field(key: str, value: Any) -> str:
    if key == "properties" and isinstance(value, dict):
        return f"properties:{{{_parameters(cast(Mapping[str, Doc], value))}}}"
    if key == "required":
        return f"required:{_texts(value)}"
    if key == "type":
        upper = value.upper() if isinstance(value, str) else [kind.upper() for kind in value]
        return f"type:{value_text(upper)}"
    return f"{key}:{value_text(value)}"


def _result(message: Turn) -> str:
    """Return the result of a call: a JSON object field by field, anything else as a string."""
    content = message["content"]
    try:
        value = json.loads(content)
    except json.JSONDecodeError:
        value = content
    shown = value_text(value, plain_keys=True) if isinstance(value, dict) else f"{{value:{_text(content)}}}"
    return f"<start_function_response>response:{message['name']}{shown}<end_function_response>"


def _render(inputs: PromptInput) -> Iterator[str]:
    own = inputs.texts.of("functiongemma", "SYSTEM_PROMPT")[0] if inputs.system is None else inputs.system
    if inputs.docs or own:
        tools = (f"<start_function_declaration>{_declaration(doc)}<end_function_declaration>" for doc in inputs.docs)
        head = f"{own.strip()}\n" if own else ""
        yield f"<start_of_turn>developer\n{head}{''.join(tools)}<end_of_turn>\n"
    for message in inputs.after_system:
        match message["role"]:
            case "user":
                yield f"<start_of_turn>user\n{message['content'].strip()}<end_of_turn>\n"
            case "assistant":
                yield f"<start_of_turn>model\n{message['content'].strip()}<end_of_turn>\n"
            case "tool":
                yield _result(message)
            case _:
                pass
    yield "<start_of_turn>model\n"


FUNCTIONGEMMA = Template(_render)
