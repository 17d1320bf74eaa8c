"""Tool schemas: structure from our functions, wording from pulled sources, rendered by pydantic like the original."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model

from console.benchmarks.tau2.data.editions import CHECKOUT, WHEEL, Edition
from console.benchmarks.tau2.data.wording import ToolWording, model_wordings, tool_wordings
from console.benchmarks.tau2.rules.domain import WORLDS
from console.benchmarks.tau2.rules.domains.world import USER, Tool, tools_of

Schema = dict[str, Any]


@cache
def tool_schemas(edition: Edition, domain: str, requestor: str) -> list[Schema]:
    """Return the schemas of a party's tools in official order."""
    renderer = _Renderer(edition.folder.parent, domain)
    file = "user_tools.py" if requestor == USER else "tools.py"
    return [renderer.schema(tool, file) for tool in tools_of(WORLDS[domain], requestor).values()]


class _Renderer:
    """Renders the tools of a domain, in the wording of the checkout if there is one, as all editions use its tools."""

    def __init__(self, root: Path, domain: str) -> None:
        self._sources = [root / name / "sources" for name in (CHECKOUT, WHEEL)]
        self._domain = domain

    def schema(self, tool: Tool, file: str) -> Schema:
        """Return the schema of a tool defined in a source file."""
        wording = self._wording(tool_wordings, tool.name, f"{self._domain}/{file}", "common/tools.py")
        hints, parameters = get_type_hints(tool.function), list(tool.signature.parameters.values())[1:]
        defaults = ((item.name, ... if item.default is item.empty else item.default) for item in parameters)
        fields = self._fields(((name, hints[name], default) for name, default in defaults), wording)
        schema = create_model("parameters", **fields).model_json_schema()
        return {
            "type": "function",
            "function": {"name": tool.name, "description": wording.description, "parameters": schema},
        }

    def _fields(self, members: Iterable[tuple[str, Any, Any]], wording: ToolWording) -> dict[str, Any]:
        """Return pydantic fields for names, types and defaults."""
        return {
            name: (self._rendered(kind), Field(default, description=wording.arguments.get(name) or None))
            for name, kind, default in members
        }

    def _rendered(self, hint: Any) -> Any:
        """Return a type with pydantic models in place of our rows."""
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self._model(hint)
        origin = get_origin(hint)
        if origin is not list and origin not in (Union, UnionType):
            return cast(Any, hint)
        generic: Any = list if origin is list else Union
        return generic[tuple(map(self._rendered, get_args(hint)))]

    def _model(self, kind: type[msgspec.Struct]) -> type[BaseModel]:
        wording = self._wording(model_wordings, kind.__name__, self._domain)
        defaults = (
            (item.name, item.type, ... if item.required else item.default) for item in msgspec.structs.fields(kind)
        )
        config = ConfigDict(extra="forbid") if kind.__struct_config__.forbid_unknown_fields else None
        fields = self._fields(defaults, wording)
        return create_model(kind.__name__, __config__=config, __doc__=wording.description or None, **fields)

    def _wording(self, read: Callable[[Path], Mapping[str, ToolWording]], name: str, *places: str) -> ToolWording:
        """Return the wording of a tool or model from the first source that has it; else an empty wording."""
        wordings = (read(sources / place) for sources in self._sources for place in places)
        return next((own[name] for own in wordings if name in own), ToolWording())
