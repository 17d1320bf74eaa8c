"""Conversion of tools to the OpenAI format, and of tools and expected calls to BFCL's."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from console.benchmarks.dialogue.rules.mistakes import FieldError, shown

if TYPE_CHECKING:
    from console.suites.call_matching.checker import Call

_KINDS = {
    "string": "string",
    "integer": "integer",
    "number": "float",
    "boolean": "boolean",
    "array": "array",
    "object": "dict",
}
"""BFCL type by JSON schema type."""
Doc = dict[str, Any]


def openai_tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Convert a tool to the OpenAI format; a row may give the function only.

    Raises:
        FieldError: no name, or parameters that are not an object schema.
    """
    function: Any = tool.get("function") if tool.get("type") == "function" else tool
    if not isinstance(function, dict):
        raise FieldError(where, "has no `function`")
    fields = cast(dict[str, Any], function)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise FieldError(where, "has no `name`", 'Write {"name": …, "description": …, "parameters": {JSON schema}}.')
    parameters = fields.get("parameters", {"type": "object", "properties": {}})
    if not isinstance(parameters, dict) or cast(Doc, parameters).get("type", "object") != "object":
        raise FieldError(
            f"{where}.parameters", f"must be a JSON schema of type object, not {shown(cast(object, parameters))}"
        )
    if not isinstance(cast(Doc, parameters).get("properties", {}), dict):
        raise FieldError(f"{where}.parameters.properties", "must be a table of schemas")
    if not isinstance(cast(Doc, parameters).get("required", []), list):
        raise FieldError(f"{where}.parameters.required", "must be a list of names")
    return {"type": "function", "function": {**fields, "parameters": parameters}}


def tool_names(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of tools in the OpenAI format."""
    return [tool["function"]["name"] for tool in tools]


def documents_of(tools: Sequence[Mapping[str, Any]], truth: Sequence["Call"]) -> list[Doc]:
    """Convert the tools of expected calls to BFCL function documents.

    An argument whose schema does not give a single type gets the type of its first allowed value.

    Args:
        tools: tools in the OpenAI format.
        truth: expected calls in BFCL's format.
    """
    allowed: dict[str, dict[str | None, Any]] = {}
    for call in truth:
        for name, arguments in call.items():
            allowed.setdefault(name, {}).update(arguments)
    functions = (tool["function"] for tool in tools)
    return [_document(function, allowed[function["name"]]) for function in functions if function["name"] in allowed]


def _document(function: Mapping[str, Any], allowed: Mapping[str | None, Any]) -> Doc:
    parameters = cast(Doc, function["parameters"])
    schemas = cast(dict[str, Any], parameters.get("properties", {}))
    names = dict.fromkeys([*schemas, *allowed]) if parameters.get("additionalProperties", False) else schemas
    properties = {name: _schema(schemas.get(str(name)), allowed.get(name, [])) for name in names}
    required = [name for name in parameters.get("required", []) if name in properties]
    document = {"type": "dict", "properties": properties, "required": required}
    return {"name": function["name"], "description": function.get("description", ""), "parameters": document}


def _schema(schema: Any, allowed: Sequence[Any]) -> Doc:
    values = [value for value in allowed if value != ""]
    kind = _kind(schema, values[0] if values else "")
    if kind != "array":
        return {"type": kind}
    items = cast(Doc, schema).get("items") if isinstance(schema, dict) else None
    lists = [cast(list[Any], value) for value in values if isinstance(value, list) and value]
    return {"type": kind, "items": {"type": _kind(items, lists[0][0] if lists else "")}}


def _kind(schema: Any, example: Any) -> str:
    """Return the BFCL type of a schema, or else of an example."""
    kind = cast(Doc, schema).get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        kind = next((name for name in cast(list[Any], kind) if name != "null"), None)
    if kind in _KINDS:
        return _KINDS[cast(str, kind)]
    by_type = {bool: "boolean", int: "integer", float: "float", list: "array", dict: "dict"}
    return by_type.get(cast("type[Any]", type(example)), "string")


def truth_of(calls: Sequence[Mapping[str, Mapping[str, Any]]]) -> "list[Call]":
    """Convert expected calls to BFCL's format, with a list of allowed values for every argument.

    A list is always a list of allowed values; any other value is the only allowed one.
    """
    return [
        {name: {key: _allowed(value) for key, value in arguments.items()}}
        for call in calls
        for name, arguments in call.items()
    ]


def _allowed(value: Any) -> list[Any]:
    values = cast(list[Any], value) if isinstance(value, list) else [value]
    return [_with_allowed_parts(part) for part in values]


def _with_allowed_parts(value: Any) -> Any:
    """Wrap each value of a table in a list of allowed values, as the checker requires."""
    if not isinstance(value, dict):
        return value
    parts = cast(dict[str, Any], value)
    return {key: cast(list[Any], part) if isinstance(part, list) else [part] for key, part in parts.items()}
