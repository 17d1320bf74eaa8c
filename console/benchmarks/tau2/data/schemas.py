"""Tool schemas: structure from our functions, wording from the pulled sources, rendered by pydantic as officially."""

from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model

from console.benchmarks.tau2.data.editions import CHECKOUT, WHEEL, Edition
from console.benchmarks.tau2.data.wording import ToolWording, model_wordings, tool_wordings
from console.benchmarks.tau2.rules.domain import WORLDS
from console.benchmarks.tau2.rules.domains.world import USER, Tool

Schema = dict[str, Any]


def tool_schemas(edition: Edition, domain: str, requestor: str) -> list[Schema]:
    """Return the schemas of a party's tools in official order."""
    return _schemas(edition.folder, domain, requestor)


@cache
def _schemas(folder: Path, domain: str, requestor: str) -> list[Schema]:
    tools = WORLDS[domain].tools(requestor).values()
    return [_schema(tool, _wording(folder, domain, requestor, tool.name), folder, domain) for tool in tools]


def _wording(folder: Path, domain: str, requestor: str, name: str) -> ToolWording:
    """Return the wording of a tool: that of the checkout if it was pulled, as its tools are played in all editions."""
    files = (f"{domain}/{'user_tools' if requestor == USER else 'tools'}.py", "common/tools.py")
    wordings = (tool_wordings(sources / file) for sources in _sources(folder) for file in files)
    return next((own[name] for own in wordings if name in own), ToolWording())


def _schema(tool: Tool, wording: ToolWording, folder: Path, domain: str) -> Schema:
    hints = get_type_hints(tool.function)
    fields: dict[str, Any] = {}
    for name, parameter in list(tool.signature.parameters.items())[1:]:
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = _rendered(hints[name], folder, domain), _field(default, wording.arguments.get(name))
    parameters = create_model("parameters", **fields).model_json_schema()
    function = {"name": tool.name, "description": wording.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _rendered(hint: Any, folder: Path, domain: str) -> Any:
    """Return a type with models of pydantic in place of our rows."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _model(hint, folder, domain)
    origin = get_origin(hint)
    if origin is not list and origin not in (Union, UnionType):
        return cast(Any, hint)
    generic: Any = list if origin is list else Union
    return generic[tuple(_rendered(part, folder, domain) for part in get_args(hint))]


@cache
def _model(kind: type[msgspec.Struct], folder: Path, domain: str) -> type[BaseModel]:
    wording = _model_wording(folder, domain, kind.__name__)
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        default = ... if field.required else field.default
        fields[field.name] = _rendered(field.type, folder, domain), _field(default, wording.arguments.get(field.name))
    config = ConfigDict(extra="forbid") if kind.__struct_config__.forbid_unknown_fields else None
    return create_model(kind.__name__, __config__=config, __doc__=wording.description or None, **fields)


def _field(default: Any, description: str | None) -> Any:
    return Field(default, description=description or None)


def _model_wording(folder: Path, domain: str, name: str) -> ToolWording:
    wordings = (model_wordings(sources / domain) for sources in _sources(folder))
    return next((own[name] for own in wordings if name in own), ToolWording())


def _sources(folder: Path) -> list[Path]:
    places = (folder.parent / name / "sources" for name in (CHECKOUT, WHEEL))
    return [place for place in places if place.exists()]
