"""Reads facts about a scenario's module from its source: names of validators and hooks, use of the runtime."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

_RUNTIME_PARAMETER = 1
"""Validators get response, runtime, turn and calls, by position."""
_STAR_IMPORT = re.compile(rb"import\s*\*")


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """Facts from a module's source; None if only running it would tell."""

    validators: frozenset[str] | None = None
    hooks: frozenset[str] | None = None
    functions: dict[str, bool] = field(default_factory=dict[str, bool])
    """By function name, True if it uses its second parameter, as validators may."""
    targets: dict[str, str] = field(default_factory=dict[str, str])
    """Function name by validator name."""

    def uses_runtime(self, validator: str) -> bool:
        """Return True if a validator uses the runtime, or might."""
        return self.functions.get(self.targets.get(validator, validator), True)


def read_source(path: Path) -> ModuleSource:
    """Return the facts about a module without running it; source that does not parse gives none."""
    try:
        source = path.read_bytes()
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, OSError):
        return ModuleSource()
    validators, hooks = _table(tree, source, "validators"), _table(tree, source, "hooks")
    names = None if validators is None else {*validators, *validators.values()}
    functions = {
        node.name: _uses_runtime(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (names is None or node.name in names)
    }
    return ModuleSource(
        validators=None if validators is None else frozenset(validators),
        hooks=None if hooks is None else frozenset(hooks),
        functions=functions,
        targets=validators or {},
    )


def _table(tree: ast.Module, source: bytes, name: str) -> dict[str, str] | None:
    """Return a module-level literal dictionary of functions by key; None if it is built otherwise."""
    if name.encode() not in source and not _STAR_IMPORT.search(source):
        return {}  # without a walk through the whole tree: Home waits for it
    assigned = [value for node in tree.body if (value := _assigned(node, name)) is not None]
    if not assigned:
        return None if _is_mentioned(tree, name) else {}
    if len(assigned) > 1 or not isinstance(assigned[0], ast.Dict):
        return None
    table: dict[str, str] = {}
    for key, value in zip(assigned[0].keys, assigned[0].values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        table[key.value] = value.id if isinstance(value, ast.Name) else ""
    return table


def _assigned(node: ast.stmt, name: str) -> ast.expr | None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return node.value if any(isinstance(item, ast.Name) and item.id == name for item in targets) else None  # type: ignore[union-attr]


def _is_mentioned(tree: ast.Module, name: str) -> bool:
    """Return True if a name could be defined in another way: an import, a star, a loop."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, ast.ImportFrom) and any(
            alias.name in ("*", name) or alias.asname == name for alias in node.names
        ):
            return True
    return False


def _uses_runtime(function: ast.FunctionDef) -> bool:
    parameters = [*function.args.posonlyargs, *function.args.args]
    if len(parameters) <= _RUNTIME_PARAMETER:
        return function.args.vararg is not None
    name = parameters[_RUNTIME_PARAMETER].arg
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))
