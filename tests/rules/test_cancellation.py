"""A task that is cancelled ends: `asyncio.wait_for` of Python 3.11 can swallow a cancellation."""

import ast
from pathlib import Path

from rules.trees import nodes_of

CONSOLE = Path(__file__).resolve().parents[2] / "console"


def test_nothing_waits_with_wait_for() -> None:
    places = [
        f"{path.relative_to(CONSOLE.parent)}:{node.lineno}: use asyncio.timeout"
        for path in sorted(CONSOLE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr == "wait_for" and ast.unparse(node.value) == "asyncio"
    ]
    assert places == []
