"""Tool schemas: structure from our functions, wording from the pulled sources."""

import types
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from console.benchmarks.tau2.data.editions import CHECKOUT, WHEEL, Edition
from console.benchmarks.tau2.data.wording import ToolWording, model_wordings, tool_wordings
from console.benchmarks.tau2.rules.domain import WORLDS
from console.benchmarks.tau2.rules.domains.phone import MODES, ApnSettings
from console.benchmarks.tau2.rules.domains.world import USER, Tool, tools_of

Schema = dict[str, Any]
_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_MODEL_NAMES = {"ApnSettings": "APNSettings"}
"""Official names of models, where ours differ."""
_MODE_SCHEMA: Schema = {"anyOf": [{"$ref": "#/$defs/NetworkModePreference"}, {"type": "string"}]}
_MODE_DEFINITION: Schema = {"enum": list(MODES), "title": "NetworkModePreference", "type": "string"}
_APN_NAMES: Schema = {"enum": ["internet", "broken"], "title": "APNNames", "type": "string"}


def tool_schemas(edition: Edition, domain: str, requestor: str) -> list[Schema]:
    """Return the schemas of a party's tools in official order."""
    return _schemas(edition.folder, domain, requestor)


@cache
def _schemas(folder: Path, domain: str, requestor: str) -> list[Schema]:
    world = WORLDS[domain]
    kit = world.user_kit if requestor == USER else world.agent_kit
    if kit is None:
        return []
    tools = tools_of(kit).values()
    return [_schema(tool, _wording(folder, domain, requestor, tool.name), folder, domain) for tool in tools]


def _wording(folder: Path, domain: str, requestor: str, name: str) -> ToolWording:
    """Return the wording of a tool: that of the checkout if it was pulled, as its tools are played in all editions."""
    own = "user_tools" if requestor == USER else "tools"
    kit = {"airline": "Airline", "retail": "Retail", "telecom": "Telecom", "mock": "Mock"}[domain]
    side = "User" if requestor == USER else "Agent"
    for sources in _sources(folder):
        files = tool_wordings(sources)
        for file in (f"{domain}/{own}.py", f"{domain}/{kit}{side}Tools.py", "common/tools.py"):
            if file in files and name in files[file]:
                return files[file][name]
    return ToolWording()


def _schema(tool: Tool, wording: ToolWording, folder: Path, domain: str) -> Schema:
    hints = get_type_hints(tool.function)
    properties: Schema = {}
    definitions: Schema = {}
    required: list[str] = []
    for name, parameter in list(tool.signature.parameters.items())[1:]:
        shape = _shape(hints[name], definitions, folder, domain)
        if tool.name == "set_network_mode_preference":
            shape, definitions = dict(_MODE_SCHEMA), {"NetworkModePreference": _MODE_DEFINITION}
        shape["title"] = _title(name)
        if text := wording.arguments.get(name):
            shape["description"] = text
        if parameter.default is Parameter.empty:
            required.append(name)
        else:
            shape["default"] = parameter.default
        properties[name] = shape
    parameters: Schema = {"$defs": definitions} if definitions else {}
    parameters |= {"properties": properties} | ({"required": required} if required else {})
    parameters |= {"title": "parameters", "type": "object"}
    function = {"name": tool.name, "description": wording.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _shape(hint: Any, definitions: Schema, folder: Path, domain: str) -> Schema:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Literal:
        return {"enum": list(parts), "type": "string"}
    if origin is list:
        return {"items": _shape(parts[0], definitions, folder, domain), "type": "array"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_shape(part, definitions, folder, domain) for part in parts]}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        name = _MODEL_NAMES.get(hint.__name__, hint.__name__)
        definitions[name] = _definition(hint, name, definitions, folder, domain)
        return {"$ref": f"#/$defs/{name}"}
    return {"type": "null"} if hint is type(None) else {"additionalProperties": True, "type": "object"}


def _definition(kind: type[msgspec.Struct], name: str, definitions: Schema, folder: Path, domain: str) -> Schema:
    wording = _model_wording(folder, domain, name)
    properties: Schema = {}
    required: list[str] = []
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        shape = _shape(hints[field.name], definitions, folder, domain) | {"title": _title(field.name)}
        if (kind, field.name) == (ApnSettings, "apn_name"):
            definitions["APNNames"] = _APN_NAMES
            shape = {"$ref": "#/$defs/APNNames"}
        if text := wording.arguments.get(field.name):
            shape["description"] = text
        if field.required:
            required.append(field.name)
        else:
            shape["default"] = field.default
        properties[field.name] = shape
    out: Schema = {"properties": properties, "title": name, "type": "object"}
    if required:
        out["required"] = required
    if kind.__struct_config__.forbid_unknown_fields:
        out["additionalProperties"] = False
    return out | ({"description": wording.description} if wording.description else {})


def _model_wording(folder: Path, domain: str, name: str) -> ToolWording:
    for sources in _sources(folder):
        if name in model_wordings(sources / domain):
            return model_wordings(sources / domain)[name]
    return ToolWording()


def _sources(folder: Path) -> list[Path]:
    places = (folder.parent / name / "sources" for name in (CHECKOUT, WHEEL))
    return [place for place in places if place.exists()]


def _title(name: str) -> str:
    return name.replace("_", " ").title()
