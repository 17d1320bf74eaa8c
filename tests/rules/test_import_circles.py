"""No module of the package imports itself by way of others, whatever the size of the circle."""

from collections.abc import Callable, Iterable, Mapping

import pytest
from rules.package import MODULES, imports_of


def circles(modules: Iterable[str], imports: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for imported in imports(module):
            if imported not in order:
                visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in stack:
                lowest[module] = min(lowest[module], order[imported])
        if lowest[module] == order[module]:
            start = stack.index(module)
            if len(stack) - start > 1:
                components.append(sorted(stack[start:]))
            del stack[start:]

    for module in modules:
        if module not in order:
            visit(module)
    return components


def test_no_modules_import_each_other() -> None:
    assert circles(MODULES, imports_of) == []


def test_imports_in_functions_and_for_types_count() -> None:
    assert "console.tui.app" in imports_of("console.tui.start")
    assert "console.tui.services" in imports_of("console.tui.navigation")


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": "b", "b": "c", "c": ""}, []),
        ({"a": "b", "b": "a"}, [["a", "b"]]),
        ({"a": "bd", "b": "c", "c": "a", "d": "a", "e": "a"}, [["a", "b", "c", "d"]]),
        ({"a": "b", "b": "a", "c": "d", "d": "c"}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_of_any_size_are_found(imports: Mapping[str, str], expected: list[list[str]]) -> None:
    assert circles(imports, imports.__getitem__) == expected
