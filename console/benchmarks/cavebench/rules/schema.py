"""Tool schemas for JSON mode, from a function's signature and docstring.

The format is that of the published runs: parameters as rendered by pydantic, with the title `<name>_args` and
descriptions from the docstring; the description is the raw docstring. Functions with parameter types without a JSON
schema (arrays, data frames) are refused. Works on a live function, or on its signature as text.
"""

import ast
import datetime
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from inspect import Parameter
from typing import Any, Literal, cast
from uuid import UUID

from pydantic import Field, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo

from console.benchmarks.cavebench.rules.docstring import parameter_descriptions


class ToolSchemaError(Exception):
    """A function that cannot be offered as a native tool; the message names the parameter or the reason."""


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One parameter of a tool function."""

    name: str
    annotation: Any = Parameter.empty
    default: Any = Parameter.empty
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    """A kind of `inspect.Parameter`."""


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the name, description and parameters of a live function.

    Raises:
        ToolSchemaError: a parameter type has no JSON schema, or the signature cannot be read.
    """
    try:
        signature = inspect.signature(function)
        hints = typing.get_type_hints(function, include_extras=True)
    except (TypeError, ValueError, NameError, AttributeError) as error:
        raise ToolSchemaError(f"signature of {function.__name__} cannot be read: {error}") from None
    parameters = [
        ToolParameter(name, hints.get(name, item.annotation), item.default, item.kind)
        for name, item in signature.parameters.items()
    ]
    return build_schema(function.__name__, parameters, function.__doc__)


def build_schema(name: str, parameters: Sequence[ToolParameter], doc: str | None) -> dict[str, Any]:
    """Return the schema of a function from its parts."""
    descriptions = parameter_descriptions(doc or "")
    fields: dict[str, Any] = {item.name: _field(item, descriptions.get(item.name)) for item in parameters}
    try:
        model = create_model(f"{name}_args", **fields)
        rendered = model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, NameError, TypeError, ValueError) as error:
        raise ToolSchemaError(f"{name}: {str(error).splitlines()[0]}") from None
    return {"name": name, "description": doc or "", "parameters": rendered}


def schema_from_text(name: str, signature: str, doc: str | None) -> dict[str, Any]:
    """Return the schema of a function from the text of its signature, such as `(a: int = 1) -> str`.

    Raises:
        ToolSchemaError: annotations outside the closed list, or an invalid signature.
    """
    try:
        function = ast.parse(f"def {name}{signature}: pass").body[0]
    except SyntaxError:
        raise ToolSchemaError(f"not a signature: {signature}") from None
    return build_schema(name, _parameters(cast("ast.FunctionDef", function).args), doc)


def _field(item: ToolParameter, description: str | None) -> tuple[Any, FieldInfo]:
    annotation = Any if item.annotation is Parameter.empty else item.annotation
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *notes = typing.get_args(annotation)
        description = description or next((note for note in notes if isinstance(note, str)), None)
    if item.kind is Parameter.VAR_POSITIONAL:
        return list[annotation], cast("FieldInfo", Field(default_factory=list, description=description))
    if item.kind is Parameter.VAR_KEYWORD:
        return dict[str, annotation], cast("FieldInfo", Field(default_factory=dict, description=description))
    if item.default is Parameter.empty:
        return annotation, cast("FieldInfo", Field(description=description))
    return annotation, cast("FieldInfo", Field(default=item.default, description=description))


def _parameters(arguments: ast.arguments) -> list[ToolParameter]:
    positional = arguments.posonlyargs + arguments.args
    absent = [None] * (len(positional) - len(arguments.defaults))
    parameters = [_parameter(*pair) for pair in zip(positional, [*absent, *arguments.defaults], strict=True)]
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, None, Parameter.VAR_POSITIONAL))
    parameters += [_parameter(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, None, Parameter.VAR_KEYWORD))
    return parameters


def _parameter(item: ast.arg, default: ast.expr | None, kind: Any = Parameter.POSITIONAL_OR_KEYWORD) -> ToolParameter:
    try:
        value = Parameter.empty if default is None else ast.literal_eval(default)
    except ValueError:
        raise ToolSchemaError(f"default of {item.arg} is not a literal") from None
    return ToolParameter(item.arg, Parameter.empty if item.annotation is None else _type(item.annotation), value, kind)


_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "bytes": bytes,
    "object": object,
    "None": None,
    "NoneType": type(None),
    "Any": Any,
    "List": list,
    "Dict": dict,
    "Tuple": tuple,
    "Set": set,
    "frozenset": frozenset,
    "Sequence": Sequence,
    "Iterable": Iterable,
    "Mapping": Mapping,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "Decimal": Decimal,
    "UUID": UUID,
}
_PREFIXES = ("typing.", "builtins.", "collections.abc.", "datetime.", "decimal.", "uuid.")


def _type(node: ast.expr) -> Any:
    """Return the type named by an annotation, from the closed list; nothing is evaluated."""
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(text)):
            return _type(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _type(left) | _type(right)
        case ast.Subscript(value=base, slice=inner):
            return _generic(_type_name(base), inner)
        case ast.Name() | ast.Attribute():
            return _named_type(_type_name(node))
        case _:
            raise ToolSchemaError(f"unknown annotation {ast.unparse(node)}")


def _generic(name: str, inner: ast.expr) -> Any:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Literal":
        choices = tuple(ast.literal_eval(part) for part in parts)
        return Literal[choices]  # pyright: ignore[reportInvalidTypeForm]
    types: tuple[Any, ...] = tuple(
        ... if isinstance(part, ast.Constant) and part.value is ... else _type(part) for part in parts
    )
    if name in ("Optional", "Union"):
        return _union([*types, None] if name == "Optional" else types)
    base = _named_type(name)
    return base[types] if len(types) > 1 else base[next(iter(types))]


def _union(types: Sequence[Any]) -> Any:
    whole = types[0]
    for item in types[1:]:
        whole = whole | item
    return whole


def _named_type(name: str) -> Any:
    if name not in _TYPES:
        raise ToolSchemaError(f"no JSON schema for {name}")
    return _TYPES[name]


def _type_name(node: ast.expr) -> str:
    text = ast.unparse(node)
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return text
