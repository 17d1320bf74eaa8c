"""Official wording of tools, agents and judge, read from pulled source files with `ast`; none of it runs.

Wheel and checkout differ in layout: in the wheel, the docstring of a tool is that of an inner function `execute`.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from console.core.fault import UsageError, reason_of
from console.core.xml_tags import tag_contents

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Examples?):[ \t]*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\w+)[ \t]*(?:\(.*?\))?:[ \t]*(.*(?:\n(?:[ \t].*)?)*)", re.MULTILINE)
"""An argument with its description, which continues in indented lines."""
_HINT = "Run `eval-console pull tau2`, or pull a whole checkout with --from."


@dataclass(frozen=True, slots=True)
class ToolWording:
    """Description of a tool and its arguments."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict[str, str])


@cache
def tool_wordings(path: Path) -> dict[str, ToolWording]:
    """Return the wording of the tools in a source file by name; empty if there is no such file."""
    wordings: dict[str, ToolWording] = {}
    for node in ast.walk(_tree(path)) if path.exists() else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = next((item for item in node.body if isinstance(item, ast.AsyncFunctionDef)), node)
            if (text := ast.get_docstring(inner, clean=False)) and node.name != "execute":
                wordings[node.name] = read_docstring(text)
    return wordings


@cache
def model_wordings(folder: Path) -> dict[str, ToolWording]:
    """Return the descriptions of data models and their fields, by class."""
    wordings: dict[str, ToolWording] = {}
    for path in sorted(folder.rglob("*data_model.py")):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                text = ast.get_docstring(node) or ""
                fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
                named = {ast.unparse(item.target): _description(item.value) for item in fields}
                wordings[node.name] = ToolWording(text, named)
    return wordings


@cache
def texts_of(path: Path) -> dict[str, str]:
    """Return the texts that a source file assigns to names; formatted parts become `{name}`.

    Raises:
        UsageError: the file is missing or not Python.
    """
    texts: dict[str, str] = {}
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = _text(node.value)
            if text is not None:
                texts[node.targets[0].id] = text
    return texts


@cache
def wheel_instruction(path: Path) -> str:
    """Return the agent's instruction from the wheel's prompt, without its indentation.

    Raises:
        UsageError: it is missing.
    """
    prompts = (_text(node) or "" for node in ast.walk(_tree(path)) if isinstance(node, ast.JoinedStr))
    for instruction in (text for prompt in prompts for text in tag_contents(prompt, "instructions")):
        return textwrap.dedent(instruction).strip()
    raise UsageError("the agent's instruction is missing", where=str(path), hint=_HINT)


def read_docstring(text: str) -> ToolWording:
    """Read a docstring in Google style as the official schemas do."""
    head, *parts = _SECTION.split(inspect.cleandoc(text))
    short, _, long = head.partition("\n")
    description = "\n\n".join(filter(None, (short.strip(), long.strip())))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    arguments = _ARGUMENT.findall(textwrap.dedent(sections.get("Args", "")))
    return ToolWording(description, {name: _dedented(body) for name, body in arguments})


def _dedented(text: str) -> str:
    """Return a text without the common indentation of all lines but the first."""
    first, _, rest = text.partition("\n")
    return f"{first}\n{textwrap.dedent(rest)}".strip()


def _description(value: ast.expr | None) -> str:
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return next((_text(item.value) or "" for item in keywords if item.arg == "description"), "")


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(item) for item in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip":
        text = _text(node.func.value)
        return None if text is None else text.strip()
    return None


def _piece(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return "{" + ast.unparse(node.value) + "}"
    return _text(node) or ""


@cache
def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise UsageError(f"official wording cannot be read: {reason_of(error)}", where=str(path), hint=_HINT) from error
