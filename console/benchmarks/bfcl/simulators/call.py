"""Execution of one call string on simulator instances in the sandbox worker, by an allow-list and without `eval`.

The official executor prefixes every `name (` that is a method of an involved class with the instance's name, even
inside string arguments, and then evaluates the string. The same rewriting is done here, as it is visible in stored
strings. The syntax tree may contain literals, nested calls of public simulator methods and a few harmless builtins.
Errors have Python's own messages.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.arithmetic import fold

_CALLED = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")
_FORBIDDEN = frozenset(("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"))
_BUILTINS: dict[str, Callable[..., Any]] = {"dict": dict, "str": str, "round": round, "complex": complex}
_ERROR = "Error during execution: "


def execute(text: str, instances: Mapping[str, Any], owners: Mapping[str, str]) -> str:
    """Execute a call and return its result as a string for models and checkers; never raises.

    Args:
        text: a call such as `cd(folder='documents')`.
        instances: simulator instances by variable name in rewritten strings.
        owners: variable name of the instance by public method.
    """
    try:
        rewritten = _CALLED.sub(lambda match: _qualified_name(match[1], owners), text)
        _refuse_forbidden(rewritten)
        result = _Evaluation(instances).value(_parse_call(rewritten))
        return _result_text(result)
    except Exception as error:  # the error becomes the result
        return f"{_ERROR}{error}"


def _qualified_name(name: str, owners: Mapping[str, str]) -> str:
    return f"{owners[name]}.{name}" if name in owners else name


def _refuse_forbidden(text: str) -> None:
    name = text.split("(")[0]
    name = name.split(".")[1] if "." in name else name
    if name in _FORBIDDEN:
        raise PermissionError(f"Function call {name} is not allowed.")


def _parse_call(text: str) -> ast.expr:
    return ast.parse(text.lstrip(" \t"), filename="<string>", mode="eval").body


def _result_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if type(result) is dict:
        try:
            return json.dumps(result)
        except (TypeError, ValueError, RecursionError):
            return str(cast(object, result))
    return str(result)


class _Evaluation:
    """Evaluates the allowed nodes of a call string."""

    def __init__(self, instances: Mapping[str, Any]) -> None:
        self._instances = instances

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Call():
                return self._call(node)
            case ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.Set(elts=parts):
                return {self.value(part) for part in parts}
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self.value(cast(ast.expr, key)): self.value(value) for key, value in pairs}
            case ast.Name(id=name):
                raise NameError(f"name {name!r} is not defined")
            case _:
                return fold(node)

    def _call(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        arguments = [self.value(argument) for argument in node.args]
        names = [keyword.arg for keyword in node.keywords]
        if doubled := next((name for index, name in enumerate(names) if name in names[:index]), None):
            raise SyntaxError(f"keyword argument repeated: {doubled} (<string>, line 1)")
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        if None in keywords:
            raise TypeError("arguments may not be unpacked")
        return function(*arguments, **cast(dict[str, Any], keywords))

    def _function(self, node: ast.expr) -> Callable[..., Any]:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self._instances:
                if name.startswith("_"):
                    raise AttributeError(f"{name!r} is not public")
                return getattr(self._instances[owner], name)
            case ast.Name(id=name) if name in _BUILTINS:
                return _BUILTINS[name]
            case _:
                first = _first(node)
                if isinstance(first, ast.Name) and first.id not in self._instances:
                    raise NameError(f"name {first.id!r} is not defined")
                raise TypeError(f"{ast.unparse(node)} may not be called")


def _first(node: ast.expr) -> ast.expr:
    """Return the first expression of an attribute chain."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
