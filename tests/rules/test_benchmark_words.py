"""Rooms above the suites know no benchmark by name; what only one of them shows is in `tui/suite_views`."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest
from rules.package import MODULES

BENCHMARK = re.compile("bfcl|aidan|cave", re.IGNORECASE)
ROOMS = re.compile(r"console\.(core|insight|engine|tui)(\.(?!suite_views)|$)")
TEXT = {tokenize.NAME, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def benchmarks_named(source: str) -> Iterator[str]:
    """Yield names and texts of code that name a benchmark; docstrings and comments may."""
    docstrings = {
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.start[0] in docstrings
        if token.type in TEXT and not is_docstring and BENCHMARK.search(token.string):
            yield token.string


def test_no_benchmark_is_named_above_the_suites() -> None:
    modules = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items() if ROOMS.match(module)}
    assert [module for module, source in modules.items() if any(benchmarks_named(source))] == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""As in BFCL."""\nx = 1  # cave', 0),
        ("def bfcl_rows(): pass", 1),
        ('x = "aidan-starter"', 1),
        ('x = f"{a} of cave-bench {b}"', 1),
    ],
)
def test_code_counts_and_docstrings_do_not(source: str, count: int) -> None:
    assert len([*benchmarks_named(source)]) == count
