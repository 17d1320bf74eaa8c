"""Renders function documents for a prompt as JSON, XML-like tags or Python-like signatures.

The output is identical to the official one, including oddities (tags are not escaped, and commas in opening tags are
dropped), as a different prompt would be a different benchmark.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

Doc = dict[str, Any]

_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def render_docs(docs: Sequence[Doc], doc_format: str) -> str:
    """Render documents in the format `json`, `xml` or `python`."""
    if doc_format == "xml":
        return "\n".join(_xml_function(doc) for doc in docs)
    if doc_format == "python":
        return "\n\n".join(part for doc in docs for part in (_python_function(doc), "\n"))
    return _indented(json.dumps(docs))


def _indented(text: str) -> str:
    """Indent JSON like `json.dumps(…, indent=4)`, which has no fast path."""
    try:
        return msgspec.json.format(text, indent=4)
    except msgspec.DecodeError:  # not strict JSON, such as NaN
        return json.dumps(json.loads(text), indent=4)


def _children(schema: Doc) -> Iterator[tuple[str, Doc, bool]]:
    """Yield each property's name, schema, and whether it is required."""
    properties = cast(dict[str, Doc], schema.get("properties", {}))
    required = cast(list[str], schema.get("required", list(properties)))
    for name, child in properties.items():
        yield name, child, name in required


def _described(schema: Doc) -> str:
    text = str(schema.get("description", ""))
    return f"{text} Enum values: {schema['enum']}." if "enum" in schema else text


def _xml_function(doc: Doc) -> str:
    params = "".join(_xml_param(*child, level=2) for child in _children(doc["parameters"]))
    return (
        f'<function name="{doc["name"]}">\n  <desc>{doc["description"]}</desc>\n  <params>\n{params}  </params>\n'
        "</function>\n"
    )


def _xml_param(name: str, schema: Doc, required: bool, level: int) -> str:
    pad, inner = "  " * level, "  " * (level + 1)
    tag = f'name="{name}" type="{_xml_type(schema)}" required="{"true" if required else "false"}"'
    if "default" in schema:
        tag += f' default="{schema["default"]!r}"'
    out = f"{pad}<param {tag.replace(',', '')}>\n{inner}<desc>{_described(schema)}</desc>\n"
    if "properties" in schema:
        params = "".join(_xml_param(*child, level=level + 2) for child in _children(schema))
        out += f"{inner}<params>\n{params}{inner}</params>\n"
    return f"{out}{pad}</param>\n"


def _xml_type(schema: Doc) -> str:
    name = str(schema.get("type", "string"))
    inner = _inner_type(schema)
    return name if inner is None else f"{name}[{inner}]"


def _inner_type(schema: Doc) -> str | None:
    for key in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(key), dict):
            return str(cast(Doc, inner).get("type", "string"))
    return None


def _python_function(doc: Doc) -> str:
    lines = [f"# Function: {doc['name']}", '    """', f"    {doc['description']}", ""]
    children = list(_children(doc["parameters"]))
    if children:
        lines.append("    Args:")
        for name, schema, _ in children:
            lines += _python_param(name, schema, depth=2)
    return "\n".join([*lines, '    """', ""])


def _python_param(name: str, schema: Doc, depth: int) -> Iterator[str]:
    default = f", default={schema['default']!r}" if "default" in schema else ""
    yield f"{'    ' * depth}{name} ({_python_type(schema)}{default}): {_described(schema)}"
    for child, inner, _ in _children(schema):
        yield from _python_param(child, inner, depth + 1)


def _python_type(schema: Doc) -> str:
    name = str(schema.get("type", "string"))
    if name in ("array", "list", "tuple"):
        items = schema.get("items")
        return f"list[{_python_type(cast(Doc, items))}]" if isinstance(items, dict) else "list"
    if name in ("dict", "object"):
        extra = schema.get("additionalProperties")
        return f"dict[str, {_python_type(cast(Doc, extra))}]" if isinstance(extra, dict) else "dict"
    return _PYTHON_TYPES.get(name, name)
