"""What docs/architecture.md names is there: a newcomer who follows it must not be led astray."""

import ast
import re
from pathlib import Path

import pytest
from rules.trees import tree_of

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACES = ("", "tui/")
"""Rooms below which a path of the page may begin."""
FILES = sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/?[a-z_]+\.(?:py|md|tcss))`", TEXT)))
NAMES = sorted(set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.[A-Za-z_.]+)`", TEXT)) - set(FILES))


def find_file(path: str) -> Path | None:
    """Return the file below a room that a path of the page means."""
    return next((file for place in PLACES if (file := ROOT / "console" / place / path).is_file()), None)


def definitions(file: Path) -> set[str]:
    """Return the names of a module, and `Class.method` and `Class.attribute` of its classes."""
    names: set[str] = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@pytest.mark.parametrize("path", [path for path in FILES if "/" in path])
def test_a_named_file_exists(path: str) -> None:
    assert find_file(path) is not None or (ROOT / path).is_file()


@pytest.mark.parametrize("name", [name for name in NAMES if "/" in name])
def test_a_named_definition_exists(name: str) -> None:
    path, *parts = name.split(".")
    file = find_file(f"{path}.py")
    assert file is not None, f"no module {path}"
    assert set(parts) <= definitions(file), f"{path} does not define {parts}"


def test_names_are_found_at_all() -> None:
    assert len(FILES) > 10
    assert len(NAMES) > 10
