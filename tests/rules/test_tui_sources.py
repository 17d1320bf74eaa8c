"""Rules of the room, read from its source: no markup, no raw text into widgets, no heavy import before first paint."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "console" / "tui"
SOURCES = sorted(ROOM.rglob("*.py"))
PARSES_MARKUP = {
    "Button", "Checkbox", "Collapsible", "DataTable", "Label", "Log", "Markdown", "MarkdownViewer", "OptionList",
    "Pretty", "RadioButton", "RichLog", "Select", "SelectionList", "TabPane", "Tree",
}  # fmt: skip
FORBIDDEN_CALLS = {"from_markup", "escape", "from_ansi", "eval", "exec", "open_url", "Text"}
TITLES = {"border_title", "border_subtitle", "tooltip"}


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield node, name


def is_raw(node: ast.expr) -> bool:
    """Whether an expression is a text that was put together, rather than a constant or something a cleaner made."""
    if isinstance(node, ast.IfExp):
        return is_raw(node.body) or is_raw(node.orelse)
    if isinstance(node, ast.BoolOp):
        return any(is_raw(value) for value in node.values)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and "[" in node.value
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in ("str", "format", "repr")
    return isinstance(node, ast.JoinedStr | ast.BinOp | ast.Subscript)


def findings(tree: ast.AST) -> Iterator[str]:
    for node, name in calls(tree):
        if (name in PARSES_MARKUP or name in FORBIDDEN_CALLS) and ast.unparse(node.func) != "re.escape":
            yield f"{node.lineno}: {name}()"
        if name in ("Static", "update", "notify") and node.args and is_raw(node.args[0]):
            yield f"{node.lineno}: raw text in {name}()"
        for keyword in node.keywords:
            if keyword.arg == "markup" and getattr(keyword.value, "value", None) is not False:
                yield f"{node.lineno}: markup="
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_raw(node.value):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in TITLES:
                    yield f"{node.lineno}: raw text in {target.attr}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_raw_text_reaches_a_widget(path: Path) -> None:
    assert list(findings(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "bad",
    [
        "Static(f'{name}')",
        "Label(name)",
        "self.notify(str(error))",
        "self.services.notify('a' + name)",
        "w.border_title = f'{name}'",
        "w.border_title = '[red]x'",
        "Static(x, markup=True)",
        "Content.from_markup(x)",
        "pane.update(names[0])",
    ],
)
def test_the_rule_finds_what_it_forbids(bad: str) -> None:
    assert list(findings(ast.parse(bad)))


def test_only_safe_cleans() -> None:
    """Others ask `safe`; the pure cleaner is used directly only where a clipboard or a block needs plain text."""
    allowed = {"sanitize.py", "block.py", "app_services.py", "case_actions.py"}
    for path in SOURCES:
        if "console.core.text" in path.read_text(encoding="utf-8"):
            assert path.name in allowed, path


def test_before_the_first_paint_nothing_heavy_is_loaded() -> None:
    code = """
import asyncio, sys
from console.tui.app import ConsoleApp
from console.config.paths import WorkspacePaths
async def main():
    app = ConsoleApp(WorkspacePaths())
    app.services.workspace.read_all = lambda: None
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
asyncio.run(main())
heavy = {"litellm", "openai", "numpy", "pydantic", "aiohttp", "httpx", "tiktoken", "sqlite3"} & set(sys.modules)
print(sorted(heavy))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr[-2000:]


def test_the_room_never_loads_a_model_client() -> None:
    code = """
import importlib, pkgutil, sys
import console.tui as room
for module in pkgutil.walk_packages(room.__path__, "console.tui."):
    importlib.import_module(module.name)
print(sorted({"litellm", "openai", "aiohttp", "numpy", "console.llm"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr[-2000:]
