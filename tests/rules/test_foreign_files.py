"""Files of runs and results are opened by one door: a pipe would stop a reader, a device fill the memory."""

import ast

import pytest
from rules.package import MODULES
from rules.trees import tree_of

OF_RUNS = ("console.exchange.", "console.store.", "console.insight.", "console.tui.data.", "console.tui.screens.")
DOORS = ("console.store.atomic", "console.store.durable")
READERS = [name for name in MODULES if name.startswith(OF_RUNS) or ".files." in name.partition("bench")[2]]
OF_ITS_OWN = {"console.exchange.site.writer", "console.tui.data.ui_state"}
"""Modules that read a file of the program, or of its own state."""


@pytest.mark.parametrize("module", [name for name in READERS if name not in OF_ITS_OWN and name not in DOORS])
def test_a_reader_opens_files_by_the_door_of_store(module: str) -> None:
    calls = [node for node in ast.walk(tree_of(MODULES[module])) if isinstance(node, ast.Call)]
    methods = [(call, call.func.attr) for call in calls if isinstance(call.func, ast.Attribute)]
    direct = [ast.unparse(call) for call, name in methods if name in ("read_bytes", "read_text")]
    opened = [ast.unparse(call) for call, name in methods if name == "open" and "'rb'" in ast.unparse(call)]
    opened += [ast.unparse(call) for call in calls if ast.unparse(call.func) == "os.open"]
    assert direct + opened == []
