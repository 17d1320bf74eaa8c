"""Folding of binary operations in arguments, such as `width=2*3` or `text='a' + 'b'`, without evaluating model text.

The official scorer hands such an expression to Python itself. Here its syntax tree is walked: literals, operators, a
short list of builtins and harmless methods are understood, with every size bounded; whatever else occurs is a
`Refused`, which makes the reply undecodable. Python's own exceptions (division by zero, wrong types) pass through and
mean the same.
"""

import ast
import json
import operator
import re
from collections.abc import Callable
from typing import Any, cast

_BITS = 200_000
"""Largest integer result; enough for `10**5000`, far from `10**10**10`."""
_ITEMS = 1_000_000
"""Longest text or list a repetition may make."""
_NODES = 2_000
"""Largest expression."""
_WIDE_FORMAT = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")
_NAMES: dict[str, Any] = {"MAXIMUM_STEP_LIMIT": 20}
"""A constant that happens to be visible where the official scorer evaluates."""


class Refused(Exception):
    """The expression is outside of what is folded."""


def fold(node: ast.expr) -> Any:
    """Return the value of a constant expression.

    Raises:
        Refused: it is too large, or uses anything not allowed.
        Exception: whatever Python raises for it, such as ZeroDivisionError or TypeError.
    """
    if sum(1 for _ in ast.walk(node)) > _NODES:
        raise Refused("the expression is too large")
    return _fold(node)


def _fold(node: ast.AST) -> Any:
    rule = _RULES.get(type(node))
    if rule is None:
        raise Refused(f"an expression holds {type(node).__name__}")
    return rule(node)


def _binary(node: ast.BinOp) -> Any:
    left, right = _fold(node.left), _fold(node.right)
    guard = _GUARDS.get(type(node.op))
    if guard is not None:
        guard(left, right)
    return getattr(operator, _BINARY[type(node.op)])(left, right)


def _guard_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        _bound(base.bit_length() * max(exponent, 0), _BITS)


def _guard_shift(value: Any, by: Any) -> None:
    if isinstance(value, int) and isinstance(by, int):
        _bound(value.bit_length() + max(by, 0), _BITS)


def _guard_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _bound(left.bit_length() + right.bit_length(), _BITS)
        return
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | bytes | list | tuple) and isinstance(times, int):
            _bound(len(cast(str, sequence)) * times, _ITEMS)


def _guard_format(left: Any, right: Any) -> None:
    text = left.decode("latin-1") if isinstance(left, bytes) else left
    if isinstance(text, str) and _WIDE_FORMAT.search(text):
        raise Refused("a wide text format")


def _bound(size: int, limit: int) -> None:
    if size > limit:
        raise Refused("the result is too large")


def _unary(node: ast.UnaryOp) -> Any:
    return _UNARY[type(node.op)](_fold(node.operand))


def _boolean(node: ast.BoolOp) -> Any:
    value: Any = None
    stops_at = isinstance(node.op, ast.Or)
    for part in node.values:
        value = _fold(part)
        if bool(value) is stops_at:
            break
    return value


def _compare(node: ast.Compare) -> Any:
    left, result = _fold(node.left), True
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = _fold(part)
        result = _COMPARE[type(op)](left, right)
        if not result:
            break
        left = right
    return result


def _dict(node: ast.Dict) -> Any:
    if None in node.keys:
        raise Refused("a dictionary unpacked into another")
    return {_fold(cast(ast.expr, key)): _fold(value) for key, value in zip(node.keys, node.values, strict=True)}


def _name(node: ast.Name) -> Any:
    if node.id not in _NAMES:
        raise Refused(f"an expression holds the unknown name {node.id}")
    return _NAMES[node.id]


def _call(node: ast.Call) -> Any:
    arguments = [_fold(argument) for argument in node.args]
    if any(keyword.arg is None for keyword in node.keywords):
        raise Refused("unpacked keywords")
    keywords = {cast(str, keyword.arg): _fold(keyword.value) for keyword in node.keywords}
    match node.func:
        case ast.Name(id=name) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*arguments, **keywords)
        case ast.Attribute(value=ast.Name(id="json"), attr="dumps") if not keywords:
            return json.dumps(*arguments)
        case ast.Attribute(value=owner, attr=method):
            value = _fold(owner)
            if method in _METHODS.get(type(value).__name__, ()):
                return getattr(value, method)(*arguments, **keywords)
        case _:
            pass
    raise Refused("a call of something not allowed")


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    _guard_power(base, 0 if modulus is not None else exponent)
    return cast(Any, pow(base, exponent, modulus))


def _formatted(node: ast.JoinedStr) -> str:
    return "".join(_formatted_part(part) for part in node.values)


def _formatted_part(part: ast.expr) -> str:
    if not isinstance(part, ast.FormattedValue):
        return str(_fold(part))
    if part.format_spec is not None:
        raise Refused("a format specification")
    value = _fold(part.value)
    return {ord("r"): repr, ord("a"): ascii}.get(part.conversion, str)(value)


def _slice(node: ast.Slice) -> slice:
    return slice(*(None if part is None else _fold(part) for part in (node.lower, node.upper, node.step)))


_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.BitAnd: "and_",
    ast.MatMult: "matmul",
}
"""Operators to their names in the standard module `operator`."""
_GUARDS: dict[type[ast.operator], Callable[[Any, Any], None]] = {
    ast.Pow: _guard_power,
    ast.LShift: _guard_shift,
    ast.Mult: _guard_product,
    ast.Mod: _guard_format,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_RULES: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Constant: lambda node: node.value,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: lambda node: _fold(node.body if _fold(node.test) else node.orelse),
    ast.List: lambda node: [_fold(part) for part in node.elts],
    ast.Tuple: lambda node: tuple(_fold(part) for part in node.elts),
    ast.Set: lambda node: {_fold(part) for part in node.elts},
    ast.Dict: _dict,
    ast.Name: _name,
    ast.Call: _call,
    ast.JoinedStr: _formatted,
    ast.Subscript: lambda node: _fold(node.value)[_fold(node.slice)],
    ast.Slice: _slice,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "ascii": ascii,
    "bin": bin,
    "bool": bool,
    "chr": chr,
    "complex": complex,
    "dict": dict,
    "divmod": divmod,
    "float": float,
    "hex": hex,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "oct": oct,
    "ord": ord,
    "pow": _power,
    "repr": repr,
    "round": round,
    "set": set,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
}
_METHODS: dict[str, frozenset[str]] = {
    "str": frozenset(
        ("capitalize", "casefold", "count", "endswith", "find", "index", "isalpha", "isdigit", "isnumeric")
    )
    | frozenset(("join", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "swapcase", "title", "upper")),
    "list": frozenset(("copy", "count", "index")),
    "tuple": frozenset(("count", "index")),
    "dict": frozenset(("copy", "get")),
}
"""By type: methods that cannot make anything large."""
