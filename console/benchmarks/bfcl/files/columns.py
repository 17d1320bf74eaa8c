"""Headings of the official summary tables, from the pulled release if available, else our own.

The release's module is parsed, not run; only lists of strings assigned to names are supported.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from console.benchmarks.bfcl.rules.categories import LIVE, MEMORY, MULTI_TURN, NON_LIVE, WEB_SEARCH
from console.benchmarks.bfcl.rules.variation import CONFIGS
from console.store.atomic import read_regular

_NAMES = {
    "overall": "COLUMNS_OVERALL",
    "non_live": "COLUMNS_NON_LIVE",
    "live": "COLUMNS_LIVE",
    "multi_turn": "COLUMNS_MULTI_TURN",
    "agentic": "COLUMNS_AGENTIC",
    "format_sensitivity": "COLUMNS_FORMAT_SENS_PREFIX",
}
_OWN = {
    "overall": [
        *("rank", "overall", "model", "link", "cost_usd", "latency_mean_s", "latency_stdev_s", "latency_p95_s"),
        *("non_live", "simple", "multiple", "parallel", "parallel_multiple", "live", *LIVE[:4]),
        *("multi_turn", *MULTI_TURN, "web_search", *WEB_SEARCH, "memory", *MEMORY, "relevance", "all_irrelevance"),
        *("format_max_delta", "format_stdev", "organization", "licence"),
    ],
    "non_live": ["rank", "model", "overall", "ast", "simple", *NON_LIVE],
    "live": ["rank", "model", "overall", "ast", *LIVE],
    "multi_turn": ["rank", "model", "overall", *MULTI_TURN],
    "agentic": ["rank", "model", "overall", "web_search", *WEB_SEARCH, "memory", *MEMORY],
    "format_sensitivity": ["rank", "model", "max_delta", "stdev"],
}
"""Our own headings of the same columns, for data without the release."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Headings by table."""

    headings: dict[str, list[str]]
    official: bool
    """True if the headings are from the release."""


def load_columns(module: Path | None) -> Columns:
    """Return the headings of the release's `column_headers.py`, or our own if it is missing or different."""
    constants = _read(module) if module is not None else {}
    headings = {name: constants.get(constant, []) for name, constant in _NAMES.items()}
    official = all(len(headings[name]) == len(plain_headings) for name, plain_headings in _OWN.items())
    if not official:
        headings = {name: list(plain_headings) for name, plain_headings in _OWN.items()}
    headings["format_sensitivity"] += [f"Config {config}" for config in CONFIGS]
    return Columns(headings, official)


def _read(module: Path) -> dict[str, list[str]]:
    try:
        tree = ast.parse(read_regular(module))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return {}
    constants: dict[str, list[str]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            texts = [item.value for item in statement.value.elts if isinstance(item, ast.Constant)]
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    constants[target.id] = [text for text in texts if isinstance(text, str)]
    return constants
