"""Extracts prompt texts and questions from official Python sources by their syntax trees; nothing is run.

Understands literals, `+`, f-strings, names, and one `if` for earlier answers. Unknown names become slots. Anything else
is refused, so that a changed source cannot yield a prompt that merely looks right.
"""

import ast
from pathlib import Path
from typing import cast

from console.core.fault import UsageError, reason_of

SLOTS = {
    "question": "question",
    "answer": "answer",
    "answer1": "answer1",
    "answer2": "answer2",
    "previous_answers_str": "previous_answers",
    "prev_str": "previous_answers",
}
"""Slots by variable name in the sources."""
_EARLIER = ("previous_answers", "prev_answers")
"""Variables that are true if there are earlier answers."""


class Source:
    """One parsed Python file."""

    def __init__(self, path: Path) -> None:
        """Parse a file.

        Raises:
            UsageError: unreadable, or not Python.
        """
        self._path = path
        try:
            self._tree = ast.parse(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"is not Python: {reason_of(error)}", where=str(path)) from error

    def texts(self, name: str) -> list[str]:
        """Return the list of strings assigned to a module-level name.

        Raises:
            UsageError: missing, or not a list of literal strings.
        """
        for node in self._tree.body:
            if isinstance(node, ast.Assign) and _targets(node) == name and isinstance(node.value, ast.List):
                items = [item.value if isinstance(item, ast.Constant) else None for item in node.value.elts]
                if items and all(isinstance(item, str) for item in items):
                    return cast(list[str], items)
        raise UsageError(f"has no list of strings named {name!r}", where=str(self._path))

    def prompt(self, function: str, variable: str) -> tuple[str, str]:
        """Return the template that a function builds in a variable, and the part added for earlier answers.

        Raises:
            UsageError: the function or variable is missing, or built in an unknown way.
        """
        body = self._body(function)
        plain, added = self._build(body, variable)
        if not plain:
            raise UsageError(f"{function} does not build {variable!r}", where=str(self._path))
        return plain, added

    def _body(self, function: str) -> list[ast.stmt]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
                return node.body
        raise UsageError(f"has no function {function!r}", where=str(self._path))

    def _build(self, body: list[ast.stmt], variable: str) -> tuple[str, str]:
        plain = added = ""
        for node in body:
            if isinstance(node, ast.Assign) and _targets(node) == variable:
                plain = self._text(node.value)
            elif isinstance(node, ast.AugAssign) and _targets(node) == variable:
                plain += self._text(node.value)
            elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id in _EARLIER:
                added += self._build(node.body, variable)[0]
        return plain, added

    def _text(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._text(left) + self._text(right)
            case ast.JoinedStr(values=values):
                return "".join(self._text(value) for value in values)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._text(value)
            case ast.Name(id=name) if name in SLOTS:
                return f"{{{SLOTS[name]}}}"
            case _:
                line = getattr(node, "lineno", 0)
                raise UsageError("builds a prompt in an unsupported way", where=f"{self._path}:{line}")


def _targets(node: ast.Assign | ast.AugAssign) -> str:
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    return target.id if isinstance(target, ast.Name) else ""
