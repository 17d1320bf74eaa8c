"""The package as data for rules: its modules, what each imports anywhere in it, and the classes of ours."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rules.trees import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / "console").rglob("*.py"))}


@cache
def imports_of(module: str) -> frozenset[str]:
    """Return the modules of ours that one imports, in functions and below TYPE_CHECKING as well."""
    names: set[str] = set()
    for node in nodes_of(MODULES[module]):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                names.add(submodule if submodule in MODULES else node.module)
    return frozenset(names & MODULES.keys()) - {module}


@dataclass(frozen=True)
class OwnClass:
    """A class of the package by module and name."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@cache
def own_classes() -> dict[OwnClass, ast.ClassDef]:
    return {
        OwnClass(module, node.name): node
        for module, path in MODULES.items()
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
    }


@cache
def _imported_names(module: str) -> dict[str, OwnClass]:
    """Return by which name a module knows imported classes of ours."""
    return {
        alias.asname or alias.name: OwnClass(node.module, alias.name)
        for node in nodes_of(MODULES[module])
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


@cache
def ancestors_of(own_class: OwnClass) -> frozenset[OwnClass]:
    """Return every class of ours that a class inherits from."""
    classes = own_classes()
    ancestors: set[OwnClass] = set()
    for base in classes[own_class].bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        parent = OwnClass(own_class.module, name)
        if parent not in classes:
            parent = _imported_names(own_class.module).get(name, parent)
        if parent in classes:
            ancestors |= {parent} | ancestors_of(parent)
    return frozenset(ancestors)


def methods_of(own_class: OwnClass) -> frozenset[str]:
    """Return the names of all methods of an object of this class, those inherited from ours included."""
    classes = own_classes()
    return frozenset(
        node.name
        for related in (own_class, *ancestors_of(own_class))
        for node in classes[related].body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def interface_sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the interface, without the one place that may touch Textual's private parts."""
    for module, path in MODULES.items():
        if module.startswith("console.tui") and module != "console.tui.textual_patches":
            yield module, tree_of(path)
