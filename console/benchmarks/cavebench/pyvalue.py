"""Python-only values of conformance cases, written as source text: parsed from a closed list, never evaluated.

Allowed are literals, containers of them, powers like `10**30`, and calls of the constructors in `_MAKERS` with such
arguments; anything else is refused.
"""

import ast
import collections
import datetime
import decimal
import fractions
import math
import pathlib
import re
import uuid
from collections.abc import Callable
from typing import Any, cast

_MAKERS: dict[str, Callable[..., Any]] = {
    "set": set,
    "frozenset": frozenset,
    "range": range,
    "complex": complex,
    "float": float,
    "int": int,
    "str": str,
    "bool": bool,
    "bytes": bytes,
    "bytearray": bytearray,
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": collections.defaultdict,
    "Counter": collections.Counter,
    "deque": collections.deque,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "timezone": datetime.timezone,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "PurePosixPath": pathlib.PurePosixPath,
    "Path": pathlib.PurePosixPath,
    "slice": slice,
}
_NAMES: dict[str, Any] = {
    "Ellipsis": Ellipsis,
    "datetime.timezone.utc": datetime.UTC,
    "timezone.utc": datetime.UTC,
    "datetime.UTC": datetime.UTC,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "math.pi": math.pi,
    "NotImplemented": NotImplemented,
    **{kind.__name__: kind for kind in (bool, bytes, complex, dict, float, int, list, object, set, str, tuple, type)},
}
_MODULES = ("datetime", "decimal", "fractions", "collections", "uuid", "pathlib")
_NUMPY = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64) if (kind, bits) != ("float", 8)
) | {"complex64", "complex128", "bool_", "str_", "bytes_", "array", "datetime64", "timedelta64", "arange", "intp"}
_ALLOCATING = frozenset({"bytes", "bytearray", "arange", "bytes_"})
"""Constructors whose numeric argument is a length."""
_LARGE_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{5}")
_SIZE = 1000


class UnreadableValue(Exception):
    """Source text outside the closed list, or without a value."""


def read_values(data: Any) -> Any:
    """Return a JSON value with every `{"$py": text}` in it replaced by the Python value it names.

    Raises:
        UnreadableValue: a text outside the closed list.
    """
    if isinstance(data, list):
        return [read_values(item) for item in cast("list[Any]", data)]
    if not isinstance(data, dict):
        return data
    fields = cast("dict[str, Any]", data)
    if set(fields) == {"$py"} and isinstance(fields["$py"], str):
        return parse_value(fields["$py"])
    return {key: read_values(item) for key, item in fields.items()}


def parse_value(text: str) -> Any:
    """Return the value of a source text.

    Raises:
        UnreadableValue: not in the closed list, or invalid arguments.
    """
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise UnreadableValue(f"cannot read the Python value {text!r}: {error}") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name() | ast.Attribute():
            return _value_of_name(_dotted(node))
        case ast.Tuple() | ast.List() | ast.Set():
            items = [_value(item) for item in node.elts]
            return items if isinstance(node, ast.List) else tuple(items) if isinstance(node, ast.Tuple) else set(items)
        case ast.Dict():
            return {_value(key): _value(item) for key, item in zip(node.keys, node.values, strict=True) if key}
        case ast.UnaryOp() | ast.BinOp():
            return _number(node)
        case ast.Call():
            return _construct(node)
        case _:
            raise ValueError("not in the list of readable values")


def _number(node: ast.UnaryOp | ast.BinOp) -> Any:
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else +value
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Mult) and isinstance(right, int):
        return _repeated(left, right)
    if not isinstance(left, (int, float, complex)) or not isinstance(right, (int, float, complex)):
        raise ValueError("only numbers can be combined")
    match node.op:
        case ast.Pow() if isinstance(right, int) and abs(right) <= _SIZE and abs(left) <= _SIZE:
            return left**right
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case _:
            raise ValueError("not in the list of readable values")


def _repeated(left: Any, right: int) -> Any:
    size: Any = len(str(cast("object", left))) if isinstance(left, (str, bytes, list, tuple)) else abs(left)
    if size * abs(right) > _SIZE**2:
        raise ValueError("too large")
    return cast("Any", left) * right


def _construct(node: ast.Call) -> Any:
    name = _dotted(node.func)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(not word.arg for word in node.keywords):
        raise ValueError("unpacking is not readable")
    make = _numpy(name[3:]) if name.startswith("np.") else _MAKERS.get(_without_module(name))
    if make is None:
        raise ValueError(f"{name} is not in the list of readable values")
    arguments = [_value(argument) for argument in node.args]
    keywords = {str(word.arg): _value(word.value) for word in node.keywords}
    for argument in (*arguments, *keywords.values()):
        _bound(argument, _without_module(name.removeprefix("np.")))
    return make(*arguments, **keywords)


def _bound(argument: Any, maker: str) -> None:
    """Check that an argument does not create something huge, by its length, value or exponent."""
    if isinstance(argument, range) and len(argument) > _SIZE**2:
        raise ValueError("too large")
    if maker in _ALLOCATING and isinstance(argument, (int, float)) and abs(argument) > _SIZE**2:
        raise ValueError("too large")
    if isinstance(argument, decimal.Decimal) and argument.is_finite() and abs(argument.adjusted()) > _SIZE:
        raise ValueError("too large")
    if maker == "Fraction" and isinstance(argument, str) and _LARGE_EXPONENT.search(argument):
        raise ValueError("too large")


def _value_of_name(name: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    if name in ("np.nan", "np.inf"):
        return float(name[3:])
    if name in ("np.True_", "np.False_"):
        return cast("Callable[..., Any]", _numpy("bool_"))(name == "np.True_")
    raise ValueError(f"{name} is not in the list of readable values")


def _numpy(name: str) -> Callable[..., Any] | None:
    import numpy as np

    return cast("Callable[..., Any]", getattr(np, name)) if name in _NUMPY else None


def _without_module(name: str) -> str:
    module, _, rest = name.partition(".")
    return rest if rest and module in _MODULES else name


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise ValueError("not in the list of readable values")
