"""Fixed texts of the official local handlers, read from the pulled release without running it.

The texts of a function or constant are its string literals in the order of the syntax tree, without the docstring.
"""

import ast
from functools import lru_cache
from pathlib import Path

from console.core.fault import UsageError

HANDLERS = "model_handler/local_inference"
"""Folder of the modules in the release's package."""
_HINT = "Pull the supported release again with `eval-console pull bfcl`."


class ReleaseTexts:
    """The literals of one unpacked release."""

    def __init__(self, package: Path | None, folder: str = HANDLERS) -> None:
        """Store the folder `bfcl_eval` of the release, or None for a dataset without it; reads lazily."""
        self._package, self._folder = package, folder

    def of(self, module: str, place: str) -> tuple[str, ...]:
        """Return the string literals of a function or constant, such as `ArchHandler._format_prompt` of `arch`.

        Raises:
            UsageError: the release has no handlers, or is not supported.
        """
        if self._package is None:
            raise UsageError("templates of local models are read from the official release", hint=_HINT)
        return _literals(self._package / self._folder / f"{module}.py", place)


@lru_cache(maxsize=64)
def _literals(path: Path, place: str) -> tuple[str, ...]:
    try:
        node: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
        for name in place.split("."):
            node = next(child for child in ast.iter_child_nodes(node) if _is_named(child, name))
    except (OSError, SyntaxError, UnicodeDecodeError, StopIteration) as error:
        raise UsageError(
            f"the release has no text of {place}: {error or type(error).__name__}", where=str(path), hint=_HINT
        ) from error
    return tuple(_strings(node))


def _is_named(node: ast.AST, name: str) -> bool:
    match node:
        case ast.ClassDef() | ast.FunctionDef():
            return node.name == name
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
        case _:
            return False


def _strings(node: ast.AST) -> list[str]:
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef):
        children = [*node.body[1:]] if ast.get_docstring(node, clean=False) is not None else [*node.body]
    own = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
    return own + [text for child in children for text in _strings(child)]
