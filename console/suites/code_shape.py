"""Describes code by its syntax tree without layout, comments and docstrings."""

import ast
import hashlib
from collections.abc import Iterable
from typing import Any, cast


def shapes_digest(sources: Iterable[tuple[str, bytes]]) -> str:
    """Return a digest of modules, given by name and source, that ignores layout, comments and docstrings."""
    digest = hashlib.sha256()
    for place, source in sources:
        try:
            digest.update(f"{place}\0{_shape(ast.parse(source))}\n".encode())
        except (SyntaxError, ValueError):
            digest.update(f"{place}\0unreadable\n".encode())
    return digest.hexdigest()[:16]


def _shape(node: ast.AST) -> str:
    """Return a syntax tree as a string that does not depend on the Python version, as empty fields are omitted."""
    fields: list[str] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        if name == "body" and _is_documented(node):
            value = value[1:]
        if isinstance(value, ast.AST):
            fields.append(_shape(value))
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            fields.append(",".join(_shape(each) if isinstance(each, ast.AST) else repr(each) for each in items))
        else:
            fields.append(repr(value))
    return f"{type(node).__name__}({';'.join(fields)})"


def _is_documented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return ast.get_docstring(node, clean=False) is not None
