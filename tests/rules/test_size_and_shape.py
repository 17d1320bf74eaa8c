"""Sizes, names and forbidden means, read from the source."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from rules.trees import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "console").rglob("*.py"))
SANDBOX_PROGRAMS = ROOT / "console" / "sandbox" / "programs"
"""What runs inside the confined worker; running given code is its purpose."""


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _imported(path: Path) -> set[str]:
    return {alias.name for node in nodes_of(path) if isinstance(node, ast.Import) for alias in node.names}


@cache
def _called(path: Path) -> list[str]:
    return [ast.unparse(node.func) for node in nodes_of(path) if isinstance(node, ast.Call)]


def _offenders(finds: Callable[[Path], object]) -> dict[str, object]:
    """Return what a search finds, by file; empty when nothing is wrong."""
    return {str(path.relative_to(ROOT)): found for path in SOURCES if (found := finds(path))}


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_functions_are_small():
    assert _offenders(lambda path: [node.name for node in _functions(path) if _lines(node) > 60]) == {}


def test_names_say_something():
    empty = re.compile(r"utils?|helpers?|common|misc|managers?|base_.*")
    assert _offenders(lambda path: empty.fullmatch(path.stem)) == {}


def test_every_module_says_what_it_is():
    assert _offenders(lambda path: ast.get_docstring(tree_of(path)) is None) == {}


def test_given_text_is_never_executed():
    forbidden = {"eval", "exec", "compile", "__import__"}
    found = _offenders(lambda path: forbidden & set(_called(path)) if SANDBOX_PROGRAMS not in path.parents else None)
    assert found == {}


def test_nothing_is_unpickled():
    assert _offenders(lambda path: _imported(path) & {"pickle", "dill", "marshal", "shelve", "yaml"}) == {}


def test_foreign_text_is_never_markup():
    markup = re.compile(r"from_markup|markup\s*=\s*True")
    assert _offenders(lambda path: markup.findall(path.read_text(encoding="utf-8"))) == {}


def test_nothing_is_left_open():
    left = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    assert _offenders(lambda path: left.findall(path.read_text(encoding="utf-8"))) == {}


def test_only_the_output_module_prints():
    """Headless verbs have one way out, which makes foreign text visible."""
    for path in (ROOT / "console" / "cli").rglob("*.py"):
        used = {"print", "sys.stdout.write", "sys.stderr.write"} & set(_called(path))
        assert not used or path.name == "output.py", f"{path.name}: {used}"


def test_only_the_store_opens_run_files():
    """The names of a run's files stand in `store` only, so nobody else can write them."""
    names = re.compile(r"""["'](journal\.jsonl|summary\.json|run\.json|notes\.jsonl)["']""")
    strangers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if not path.is_relative_to(ROOT / "console" / "store") and names.search(path.read_text(encoding="utf-8"))
    ]
    assert strangers == []
