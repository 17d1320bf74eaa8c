"""Verdict and error type of every public case are the official ones; what crashes the official scorer is invalid."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.suites.check import check

CHECKOUT = Path(__file__).resolve().parents[3]
CASES = CHECKOUT / ".." / "shared" / "conformance" / "bfcl" / "cases-public.jsonl.gz"
DATA = CHECKOUT / "data"

pytestmark = [
    pytest.mark.skipif(not CASES.is_file(), reason="no official verdicts beside the checkout"),
    pytest.mark.skipif(not (DATA / "bfcl" / "suite.toml").is_file(), reason="official data not pulled"),
]


@dataclass(frozen=True)
class Roots:
    bundled: Path = DATA
    pulled: Path = DATA
    user: tuple[Path, ...] = ()


HANDLERS = CASES.with_name("handlers-public.jsonl.gz")


def _lines(part: str) -> Iterator[str]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        yield from (line for line in lines if f'"category":"{part}' in line)


def _as_expected(case: dict[str, Any], verdict: dict[str, Any]) -> bool:
    if case["valid"] is None:
        return verdict["valid"] is False
    return (verdict["valid"], verdict["error_type"]) == (case["valid"], case["error_type"])


@pytest.mark.parametrize(
    ("part", "least"),
    [
        ("simple_python", 7000),
        ("simple_java", 6000),  # JavaScript too: its name begins alike
        ("multiple", 3000),
        ("parallel", 9000),
        ("irrelevance", 3000),
        ("live_", 14000),
        ("format_sensitivity", 4000),
        ("memory_", 1500),
        ("web_search_", 700),
        ("multi_turn_", 2000),
    ],
)
def test_verdicts_are_the_official_ones(part: str, least: int, record_property):
    judged = check("bfcl", _lines(part), Roots())
    cases = (json.loads(line) for line in _lines(part))
    pairs = list(zip(cases, judged, strict=True))
    wrong = [(case, verdict) for case, verdict in pairs if not _as_expected(case, verdict)]
    record_property("trials", len(pairs))
    record_property("wrong", len(wrong))
    assert len(pairs) >= least
    assert wrong == []
    assert all(verdict["case"] == case["case"] for case, verdict in pairs)


@pytest.mark.parametrize("conversations", [False, True])
def test_verdicts_by_registry_name_are_the_official_ones(conversations: bool, record_property):
    with gzip.open(HANDLERS, "rt", encoding="utf-8") as file:
        lines = [line for line in file if _is_conversation(json.loads(line)["category"]) == conversations]
    judged = list(check("bfcl", lines, Roots(), ahead=500))
    cases = [json.loads(line) for line in lines]
    wrong = [(case, ours) for case, ours in zip(cases, judged, strict=True) if not _as_expected(case, ours)]
    record_property("trials", len(cases))
    record_property("wrong", len(wrong))
    assert len(cases) > (2000 if conversations else 7000)
    assert wrong == []


def _is_conversation(category: str) -> bool:
    return category.startswith(("multi_turn", "memory", "web_search"))
