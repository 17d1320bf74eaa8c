"""Intervals, tests and resampling are in `core/statistics` and nowhere else: a number is the same everywhere."""

import ast
import re
from pathlib import Path

from rules.trees import nodes_of

ROOT = Path(__file__).resolve().parents[2]
STATISTICS = ROOT / "console" / "core" / "statistics"
SOURCES = sorted(path for path in (ROOT / "console").rglob("*.py") if STATISTICS not in path.parents)
QUANTILES = (1.2816, 1.6449, 1.96, 2.3263, 2.5758)
"""Of the normal distribution, as people type them."""
NAMES = re.compile(
    r"(wilson|newcombe|mcnemar|clopper|agresti|bootstrap|jackknife|standard_error|stderr|std_err|p_value|t_?test|z_?95)"
    r"|confidence_interval|kappa|binom_?test",
    re.IGNORECASE,
)
OFFICIAL = {
    "benchmarks/bfcl/rules/aggregate.py",
    "exchange/exports/inspect_log.py",
    "exchange/imports/totals.py",
}
"""Print the deviations that the official tables and Inspect's results have, which are no estimates of ours."""


def _where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT / 'console')}:{getattr(node, 'lineno', 0)}"


def test_nobody_else_defines_an_interval_or_a_test():
    defined = [
        _where(path, node)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef) and NAMES.search(node.name) and node.name != "bootstrapped"
    ]
    assert defined == []


def test_nobody_else_has_a_quantile_of_the_normal_distribution():
    typed = [
        _where(path, node)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and any(abs(abs(node.value) - quantile) < 6e-4 for quantile in QUANTILES)
    ]
    assert typed == []


def test_nobody_else_takes_a_deviation_or_resamples():
    libraries = {"statistics", "scipy", "statsmodels"}
    imported = [
        _where(path, node)
        for path in SOURCES
        if str(path.relative_to(ROOT / "console")) not in OFFICIAL
        for node in nodes_of(path)
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] in libraries for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in libraries)
        or (isinstance(node, ast.Attribute) and node.attr in {"stdev", "pstdev", "pvariance", "sem", "choices"}
            and not isinstance(node.ctx, ast.Store) and _is_call_of_library(node))
    ]  # fmt: skip
    assert imported == []


def _is_call_of_library(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"random", "statistics", "numpy", "np", "source"}


def test_a_rate_is_not_made_by_hand():
    """Passed over graded would weigh cases by how often they were played."""
    divided = [
        _where(path, node)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and "passed" in ast.unparse(node.left)
        and "graded" in ast.unparse(node.right)
    ]
    assert [place.split(":")[0] for place in divided] == [
        "core/case_counts.py"
    ]  # a case's own rate, which is what estimates are made of
