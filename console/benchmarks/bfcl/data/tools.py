"""Conversion of function documents to chat-completions tools, like the official handler.

Types become JSON schema types, including one level of items. Attributes unknown to JSON schema (`optional`, a
simulator's `response`) are kept, although strict servers may reject them, as the tools are part of the benchmark.
"""

from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.core.json_copy import copied
from console.suites.call_matching.checker import underscored_name

_TYPES = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("string", "any", "Any", "char", "String"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
_FLOAT_NOTE = " This is a float type value."


def native_tools(docs: Sequence[Doc]) -> list[dict[str, Any]]:
    """Convert documents with hints to tools, without modifying them."""
    return [{"type": "function", "function": _function(doc)} for doc in docs]


def _function(doc: Doc) -> Doc:
    out = copied(doc)
    out["name"] = underscored_name(doc["name"])
    out["parameters"]["type"] = "object"
    out["parameters"]["properties"] = _properties(out["parameters"]["properties"])
    return out


def _properties(properties: dict[str, Doc]) -> dict[str, Doc]:
    for schema in properties.values():
        _convert(schema)
    return properties


def _convert(schema: Doc) -> None:
    kind = schema.get("type", "string")
    if kind == "float":
        schema["format"] = "float"
        schema["description"] = str(schema.get("description", "")) + _FLOAT_NOTE
    schema["type"] = _TYPES.get(kind, "string")
    if schema["type"] not in ("array", "object"):
        return
    if "properties" in schema:
        _properties(cast(dict[str, Doc], schema["properties"]))
    elif "items" in schema:
        _convert_items(cast(Doc, schema["items"]))


def _convert_items(items: Doc) -> None:
    items["type"] = _TYPES.get(items.get("type", "string"), "string")
    if items["type"] == "array" and "items" in items:
        inner = cast(Doc, items["items"])
        inner["type"] = _TYPES.get(inner.get("type", "string"), "string")
    elif items["type"] == "object" and "properties" in items:
        _properties(cast(dict[str, Doc], items["properties"]))
