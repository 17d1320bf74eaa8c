"""The evaluator's verdicts on the shared conformance cases, where they lie beside the checkout."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.conformance import CaveLineChecker

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "conformance" / "cavebench"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no shared conformance cases beside this checkout")


def rows(name: str) -> list[dict[str, Any]]:
    data = (CASES / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return [json.loads(line) for line in text.splitlines()]


def runs_here(row: dict[str, Any]) -> bool:
    return "python>=3.12" not in row.get("needs", []) or sys.version_info >= (3, 12)


def agrees(row: dict[str, Any], answer: dict[str, Any]) -> bool:
    if "raises" in row:
        return "evaluator_error" in answer
    if "raises" in row.get("verdict", {}):
        return "evaluator_error" in answer["verdict"]
    judged = ("verdict", "verdict_seed_era", "result", "result_seed_era", "reads", "writes")
    return all(row[key] == answer.get(key) for key in judged if key in row)


def test_evaluator_cases(record_property: Callable[[str, object], None]) -> None:
    checker = CaveLineChecker()
    judged = [row for row in rows("evaluator-cases-public.jsonl.gz") if runs_here(row)]
    assert len(judged) > 1000
    wrong = [row["id"] for row in judged if not agrees(row, checker.check(row))]
    record_property("trials", len(judged))
    record_property("wrong", len(wrong))
    assert wrong == []


def test_answers_do_not_look_at_the_recorded_verdict() -> None:
    for row in rows("evaluator-cases-public.jsonl.gz")[:50]:
        blind = {key: value for key, value in row.items() if key not in ("verdict", "result", "raises")}
        answer = CaveLineChecker().check(blind)
        judged = ("verdict", "result", "reads", "writes")
        assert all(row[key] == answer[key] for key in judged if key in row and "raises" not in row)


def test_recorded_turns_and_scenarios(record_property: Callable[[str, object], None]) -> None:
    checker = CaveLineChecker()
    compared = 0
    for row in rows("recorded-public.jsonl.gz"):
        verdict = checker.check(row)["verdict"]
        if row["kind"] == "scenario" and not row["whole_run_here"]:
            assert "evaluator_error" in verdict
            continue
        for key in set(verdict) & set(row):
            multiset = key.startswith("actual_variable")
            ours, theirs = (sorted(verdict[key]), sorted(row[key])) if multiset else (verdict[key], row[key])
            assert ours == theirs, (row["run"], row.get("turn"), key)
        compared += 1
    record_property("trials", compared)
    assert compared > 30


def test_tool_schemas(record_property: Callable[[str, object], None]) -> None:
    published = rows("tool-schemas-public.jsonl")
    record_property("trials", len(published))
    for row in published:
        answer = CaveLineChecker().check(row)
        if row.get("raises"):
            assert "evaluator_error" in answer
        else:
            assert answer["schema"] == row["schema"], row["tool"]
