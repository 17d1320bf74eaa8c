"""Readers of results open ordinary files only: a pipe in a folder would stop them, a device fill the memory."""

import ast

import pytest
from rules.package import MODULES
from rules.trees import tree_of

READERS = [
    name for name in MODULES if name.startswith("console.exchange.imports.") or ".files." in name.partition("bench")[2]
]


@pytest.mark.parametrize("module", READERS)
def test_a_reader_opens_files_by_the_door_of_store(module: str) -> None:
    calls = [node for node in ast.walk(tree_of(MODULES[module])) if isinstance(node, ast.Call)]
    methods = [(call, call.func.attr) for call in calls if isinstance(call.func, ast.Attribute)]
    direct = [ast.unparse(call) for call, name in methods if name in ("read_bytes", "read_text")]
    opened = [ast.unparse(call) for call, name in methods if name == "open" and "'rb'" in ast.unparse(call)]
    assert direct + opened == []
