"""Decoder for Python syntax, `[name(param=value, …), …]`, from the syntax tree.

The official oddities are reproduced: only keyword arguments count, a repeated keyword keeps the last value, every unary
operator negates, a bare name becomes a string, and a nested call without keywords becomes its source.
"""

import ast
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.arithmetic import fold

Call = dict[str, dict[str | None, Any]]

_MAY_WARN = re.compile(r"\\|[0-9a-fA-F.jJoOxX_](?:and|else|for|if|in|is|not|or)\b")
"""Possible causes of parser warnings: escapes, and numbers next to a keyword. Suppressing warnings is slow."""


class Undecodable(Exception):
    """The text is not a list of calls."""


def decode_python(text: str) -> list[Call]:
    """Return the calls of one expression.

    Raises:
        Exception: any, including `Undecodable`.
    """
    body = parse_expression(text.strip().strip("'"))
    if isinstance(body, ast.Call):
        return [read_call(body)]
    if not isinstance(body, ast.List | ast.Tuple | ast.Set):
        raise Undecodable(f"not a list of calls but {type(body).__name__}")
    calls: list[Call] = []
    for element in body.elts:
        if not isinstance(element, ast.Call):
            raise Undecodable(f"an element is not a call but {type(element).__name__}")
        calls.append(read_call(element))
    return calls


_SHARED = 2_000
"""Maximum number of characters in a text whose tree is cached; a tree needs several hundred times its memory."""


def parse_expression(text: str) -> ast.expr:
    """Parse one Python expression without warnings; the tree is cached and must not be modified.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: from Python's parser.
    """
    return _parse_shared(text) if len(text) <= _SHARED else _parse(text)


@lru_cache(maxsize=128)
def _parse_shared(text: str) -> ast.expr:
    return _parse(text)


def _parse(text: str) -> ast.expr:
    if _MAY_WARN.search(text) is None:
        return ast.parse(text, mode="eval").body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def read_call(node: ast.Call) -> Call:
    """Return a call of a syntax tree.

    Raises:
        Exception: any, including `Undecodable` for an unsupported argument.
    """
    return {_called(node.func): {keyword.arg: _value(keyword.value) for keyword in node.keywords}}


def _called(node: ast.expr) -> str:
    """Return the dotted name of the called function; for other expressions, its attributes only."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.AST | None) -> Any:
    rule = _RULES.get(type(node))
    if rule is None:
        raise Undecodable(f"an argument is neither a value nor a call, but {type(node).__name__}")
    return rule(node)


def _constant(node: ast.Constant) -> Any:
    return "..." if node.value is Ellipsis else node.value


def _negated(node: ast.UnaryOp) -> Any:
    if not isinstance(node.operand, ast.Constant):
        raise Undecodable("an operator before something that is not a literal")
    return -cast(Any, node.operand.value)


def _dict(node: ast.Dict) -> dict[Any, Any]:
    return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)}


def _nested_call(node: ast.Call) -> Any:
    return read_call(node) if node.keywords else ast.unparse(node)


_RULES: dict[type, Callable[[Any], Any]] = {
    ast.Constant: _constant,
    ast.UnaryOp: _negated,
    ast.BinOp: fold,
    ast.List: lambda node: [_value(part) for part in node.elts],
    ast.Tuple: lambda node: tuple(_value(part) for part in node.elts),
    ast.Dict: _dict,
    ast.Name: lambda node: node.id,
    ast.Call: _nested_call,
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
}
