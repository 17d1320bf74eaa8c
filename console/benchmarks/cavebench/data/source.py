"""Reads facts about a scenario's module from its source: validators and hooks, use of the runtime, types of tools.

A validator is a function, or the function that a factory returns (`check_1 = checker(1)`).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from console.store.atomic import read_regular

_RUNTIME_PARAMETER = 1
"""Position of the runtime in a validator's arguments: response, runtime, turn, calls."""
_STAR_IMPORT = re.compile(rb"import\s*\*")


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """Facts from a module's source; None if they cannot be determined without running it."""

    validators: frozenset[str] | None = None
    hooks: frozenset[str] | None = None
    users: dict[str, bool] = field(default_factory=dict[str, bool])
    """True by validator name if it uses, or might use, the runtime."""
    unsendable: str = ""
    """A tool's parameter type that has no JSON schema, such as `np.ndarray of multiply`; empty if none is certain."""

    def uses_runtime(self, validator: str) -> bool:
        """Return True if a validator uses, or might use, the runtime."""
        return self.users.get(validator, True)


def read_source(path: Path) -> ModuleSource:
    """Return the facts about a module without running it; none if its source does not parse."""
    try:
        source = read_regular(path)
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, OSError):
        return ModuleSource()
    module = _Module(tree)
    validators, hooks = _table(tree, source, "validators"), _table(tree, source, "hooks")
    return ModuleSource(
        validators=None if validators is None else frozenset(validators),
        hooks=None if hooks is None else frozenset(hooks),
        users=module.users() if validators is None else {name: module.uses(at) for name, at in validators.items()},
        unsendable=_unsendable(module),
    )


class _Module:
    """Top-level definitions of a module; names defined twice count as unknown."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions = _made_once((node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef))
        self.values = _made_once(
            (target.id, node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        )
        self.imports = dict(_imports(tree))

    def users(self) -> dict[str, bool]:
        """Return for each function whether it would use the runtime as a validator."""
        return {name: self.uses(ast.Name(name)) for name in self.functions}

    def uses(self, validator: ast.expr) -> bool:
        """Return True if the value of this expression, as a validator, uses or might use the runtime."""
        match validator:
            case ast.Name(id=name) if name in self.functions:
                return name in self.values or _uses_runtime(self.functions[name])
            case ast.Name(id=name):
                made = self.values.get(name)
                return made is None or isinstance(made, ast.Name) or self.uses(made)
            case ast.Call(func=ast.Name(id=name)) if name in self.functions and name not in self.values:
                return any(inner is None or _uses_runtime(inner) for inner in _returned(self.functions[name]))
            case ast.Lambda():
                return _uses_runtime(validator)
            case _:
                return True


NodeT = TypeVar("NodeT")


def _made_once(pairs: Iterable[tuple[str, NodeT]]) -> dict[str, NodeT]:
    made: dict[str, list[NodeT]] = {}
    for name, node in pairs:
        made.setdefault(name, []).append(node)
    return {name: nodes[0] for name, nodes in made.items() if len(nodes) == 1}


def _returned(factory: ast.FunctionDef) -> list[ast.FunctionDef | ast.Lambda | None]:
    """Return the inner functions that a plain factory returns; None if it returns anything else or nothing."""
    if factory.decorator_list:
        return [None]
    inner = _made_once((node.name, node) for node in ast.walk(factory) if isinstance(node, ast.FunctionDef))
    assigned = {node.id for node in ast.walk(factory) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    returned: list[ast.FunctionDef | ast.Lambda | None] = []
    for value in _return_values(factory.body):
        match value:
            case ast.Lambda():
                returned.append(value)
            case ast.Name(id=name) if name in inner and name not in assigned and not inner[name].decorator_list:
                returned.append(inner[name])
            case _:
                returned.append(None)
    return returned or [None]


def _return_values(body: Sequence[ast.AST]) -> Iterator[ast.expr | None]:
    """Yield the expressions returned by a function, without those of inner functions."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node.value
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _return_values(list(ast.iter_child_nodes(node)))


_WITHOUT_SCHEMA = frozenset(
    {
        *("numpy.ndarray", "numpy.matrix", "numpy.typing.NDArray", "numpy.float64", "numpy.int64"),
        *("pandas.DataFrame", "pandas.Series", "pandas.Index", "pandas.Timestamp"),
    }
)
"""Parameter types of tools in published scenarios for which pydantic has no JSON schema."""


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each imported name at the top level, with its full original name."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or full, full
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _unsendable(module: _Module) -> str:
    """Return a tool with a parameter type that has no JSON schema; empty if none is certain."""
    tools = module.values.get("tools")
    names = tools.elts if isinstance(tools, ast.List | ast.Tuple) else []
    for name in (item.id for item in names if isinstance(item, ast.Name)):
        function = module.functions.get(name)
        if function is None or name in module.values or function.decorator_list:
            continue
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            for kind in _types_in(parameter.annotation):
                first, dot, rest = kind.partition(".")
                if module.imports.get(first, "") + dot + rest in _WITHOUT_SCHEMA:
                    return f"{kind} of {name}"
    return ""


def _types_in(annotation: ast.expr | None) -> Iterator[str]:
    """Yield the names of all types in an annotation."""
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                yield from _types_in(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError):
                return
        case ast.Name() | ast.Attribute():
            yield ast.unparse(annotation)
        case ast.BinOp(left=left, right=right):
            yield from (*_types_in(left), *_types_in(right))
        case ast.Subscript(value=base, slice=inner):
            name = ast.unparse(base).rpartition(".")[2]
            yield from _types_in(base)
            if name == "Literal":
                return
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            for part in parts[:1] if name == "Annotated" else parts:
                yield from _types_in(part)
        case _:
            return


def _table(tree: ast.Module, source: bytes, name: str) -> dict[str, ast.expr] | None:
    """Return the values of a module-level literal dictionary by key, or None if it is built otherwise."""
    if name.encode() not in source and not _STAR_IMPORT.search(source):
        return {}  # no walk through the whole tree, since Home waits for it
    assigned = [value for node in tree.body if (value := _assigned(node, name)) is not None]
    if not assigned:
        return None if _is_mentioned(tree, name) else {}
    if len(assigned) > 1 or not isinstance(assigned[0], ast.Dict):
        return None
    table: dict[str, ast.expr] = {}
    for key, value in zip(assigned[0].keys, assigned[0].values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        table[key.value] = value
    return table


def _assigned(node: ast.stmt, name: str) -> ast.expr | None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return node.value if any(isinstance(item, ast.Name) and item.id == name for item in targets) else None  # type: ignore[union-attr]


def _is_mentioned(tree: ast.Module, name: str) -> bool:
    """Return True if a name could be defined in another way: by an import, a star import or a loop."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, ast.ImportFrom) and any(
            alias.name in ("*", name) or alias.asname == name for alias in node.names
        ):
            return True
    return False


def _uses_runtime(function: ast.FunctionDef | ast.Lambda) -> bool:
    parameters = [*function.args.posonlyargs, *function.args.args]
    if len(parameters) <= _RUNTIME_PARAMETER:
        return function.args.vararg is not None
    name = parameters[_RUNTIME_PARAMETER].arg
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))
