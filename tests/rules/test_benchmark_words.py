"""No package but `benchmarks` names a benchmark; the others use the `Benchmark` objects of all of them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest
from rules.package import MODULES

BENCHMARK = re.compile("bfcl|aidan|cave", re.IGNORECASE)
NAMES = {
    "console.suites.benchmark": "the one list of the benchmarks that come with the program",
    "console.config.model": "`bfcl_name` of models.toml",
    "console.config.table": "`bfcl_name` of models.toml",
    "console.llm.wires.chat": "`bfcl_name` of models.toml",
    "console.config.builtin": "what the simulated roles are for",
    "console.cli.doctor_checks": "the extra `cave` of the package",
    "console.store.old_runs": "runs of versions before the format was kept",
    "console.suites.headline": "runs of versions before the headline was kept",
}
"""Modules that may name one, and what they name."""
TEXT = {tokenize.NAME, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def benchmarks_named(source: str) -> Iterator[str]:
    """Yield names and texts of code that name a benchmark; docstrings and comments may."""
    if not BENCHMARK.search(source):
        return
    docstrings = {
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.start[0] in docstrings
        if token.type in TEXT and not is_docstring and BENCHMARK.search(token.string):
            yield token.string


def test_no_room_but_benchmarks_names_one() -> None:
    others = {module: path for module, path in MODULES.items() if not module.startswith("console.benchmarks.")}
    naming = {module for module, path in others.items() if any(benchmarks_named(path.read_text(encoding="utf-8")))}
    assert naming - NAMES.keys() == set()
    assert NAMES.keys() - naming == set(), "these name none any more: take them from the list"


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
