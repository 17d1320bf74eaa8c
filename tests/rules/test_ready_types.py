"""No thread decodes a struct that msgspec has described by half: each type passes `core.ready_type` first."""

import ast
from collections.abc import Iterator

from rules.package import MODULES
from rules.trees import tree_of

_PLAIN = {"dict", "list", "tuple", "str", "int", "float", "bool", "bytes", "Any", "msgspec", "None"}
"""Names of types that msgspec describes without running any code."""


def unready(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("msgspec."):
            _, _, name = ast.unparse(node.func).rpartition(".")
            kinds = [keyword.value for keyword in node.keywords if keyword.arg == "type"]
            kinds += {"convert": node.args[1:2], "Decoder": node.args[:1]}.get(name, [])
            yield from (ast.unparse(node) for kind in kinds if not _is_ready(kind))


def _is_ready(kind: ast.expr) -> bool:
    if isinstance(kind, ast.Call):
        return ast.unparse(kind.func) == "ready_type"
    return {part.id for part in ast.walk(kind) if isinstance(part, ast.Name)} <= _PLAIN


def test_every_type_is_ready_before_it_is_decoded() -> None:
    found = [f"{name}: {call}" for name, path in MODULES.items() for call in unready(tree_of(path))]
    assert [call for call in found if not call.startswith("console.core.ready_type: ")] == []
