"""Nobody in the interface reaches into another object, and what is Textual's own is touched in one module only."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache

import pytest
from rules.package import interface_sources

PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit"}
"""Names that are public in spite of their underscore: of named tuples, and `os._exit`."""
LOOKUPS = {"getattr", "setattr", "delattr", "hasattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def private_reach(tree: ast.AST) -> Iterator[str]:
    """Yield every use of a private attribute of something that is neither `self` nor `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in LOOKUPS and len(node.args) > 1:
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(str(name.value)):
                yield ast.unparse(node)


def back_channels(tree: ast.AST) -> Iterator[str]:
    """Yield ways around a type: `self`, app or screen taken for something else or asked for a name they may have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            source, function = ast.unparse(node), ast.unparse(node.func)
            is_cast = re.fullmatch(r"cast\(.+, (self|cls|super\(\)|.*\b(app|screen))\)", source)
            is_lookup = function in LOOKUPS and re.search(r"\b(screen|app|focused|parent)$", ast.unparse(node.args[0]))
            if is_cast or function == "hasattr" or is_lookup:
                yield source


@cache
def private_names(textual_class: type) -> frozenset[str]:
    """Return the private names that a class of Textual defines or sets on itself."""
    names = {name for name in vars(textual_class) if is_private(name)}
    return frozenset(names | set(re.findall(r"\bself\.(_[a-z]\w*)", inspect.getsource(textual_class))))


def of_textual(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield what classes of a module take of their Textual bases' private parts, by override or by use."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        own_class = getattr(importlib.import_module(module), node.name, None)
        bases = (
            [base for base in inspect.getmro(own_class) if base.__module__.startswith("textual.")] if own_class else []
        )
        names = frozenset[str]().union(*map(private_names, bases))
        for part in ast.walk(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name in names:
                yield f"{node.name}.{part.name}"
            elif isinstance(part, ast.Attribute) and part.attr in names and ast.unparse(part.value) in ("self", "cls"):
                yield f"{node.name}.{part.attr}"


def test_no_object_reaches_into_another() -> None:
    assert [f"{module}: {use}" for module, tree in interface_sources() for use in private_reach(tree)] == []


def test_no_type_is_gone_around() -> None:
    assert [f"{module}: {use}" for module, tree in interface_sources() for use in back_channels(tree)] == []


def test_textuals_private_parts_are_touched_in_one_module() -> None:
    assert [f"{module}: {use}" for module, tree in interface_sources() for use in of_textual(module, tree)] == []


@pytest.mark.parametrize("source", ["screen._feed", "self.pane._rows", "super()._display()", "getattr(pane, '_rows')"])
def test_reaching_into_another_object_is_seen(source: str) -> None:
    assert [*private_reach(ast.parse(source))] != []


@pytest.mark.parametrize("source", ["self._feed", "cls._count", "self.__dict__", "row._replace(a=1)"])
def test_ones_own_parts_are_not(source: str) -> None:
    assert [*private_reach(ast.parse(source))] == []


@pytest.mark.parametrize(
    "source",
    ["cast(Any, self)", "cast('Any', super())", "cast(ConsoleApp, self.app)", "getattr(self.screen, 'feed', None)",
     "getattr(screen, name)", "hasattr(row, 'key')"],
)  # fmt: skip
def test_ways_around_a_type_are_seen(source: str) -> None:
    assert [*back_channels(ast.parse(source))] != []


def test_a_method_over_a_private_one_of_textual_is_seen() -> None:
    tree = ast.parse("class TopLine:\n    def _size_updated(self): self._styles_cache.clear()")
    names = [*of_textual("console.tui.widgets.top_line", tree)]
    assert names == ["TopLine._size_updated", "TopLine._styles_cache"]
