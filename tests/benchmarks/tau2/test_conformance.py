"""Agreement with recorded conversations of the original, where the shared cases lie beside the checkout."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.tau2.conformance import Tau2LineChecker
from console.benchmarks.tau2.data.pull import pull
from console.suites.pull import Pull

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "conformance" / "tau2"
DRAWN = re.compile(r"\bB[0-9a-f]{8}\b")
EVERY = 25
"""Rows between two that the quick test plays."""
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no shared conformance cases beside this checkout")


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Tau2LineChecker:
    request = Pull(tmp_path_factory.mktemp("data"), lambda _: None, CASES / "data" / "tau2-1.0.1-data.tar.gz")
    return Tau2LineChecker(pull(request))


def rows(name: str) -> list[dict[str, Any]]:
    lines = gzip.decompress((CASES / f"{name}.jsonl.gz").read_bytes()).splitlines()
    read = (json.loads(line) for line in lines)
    return [row for row in read if row.get("edition") != "inspect" and row.get("domain") != "banking_knowledge"]


def differences(row: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Return the names of fields that differ."""
    if "raises" in row:
        return [] if "raises" in answer and "expect" not in answer else ["raises"]
    wanted = {key: value for key, value in row["expect"].items() if key != "note"}
    given = json.loads(json.dumps(answer["expect"]))
    if row.get("random_ids"):
        wanted.pop("db_match", None)
        given.pop("db_match", None)
    wrong = [] if wanted == given else ["expect"]
    if row["kind"].startswith("rescore"):
        return wrong
    wrong += [key for key in ("termination_reason", "steps", "errors") if row[key] != answer[key]]
    both = list(zip(row["messages"], answer["messages"], strict=False))
    is_same = len(row["messages"]) == len(answer["messages"]) and all(same_message(*pair) for pair in both)
    return wrong if is_same else [*wrong, "messages"]


def same_message(wanted: dict[str, Any], given: dict[str, Any]) -> bool:
    if wanted.get("loose"):
        return given["content"].startswith("Error: ") and given["error"]
    contents = [DRAWN.sub("B", item["content"] or "") for item in (wanted, given)]
    return contents[0] == contents[1] and wanted.get("error", False) == given.get("error", False)


def wrong_cases(checker: Tau2LineChecker, chosen: list[dict[str, Any]]) -> dict[str, list[str]]:
    answers = zip(chosen, checker.check(chosen), strict=True)
    found = {
        row["case"]: differences(row, answer) if isinstance(answer, dict) else [str(answer)] for row, answer in answers
    }
    return {case: wrong for case, wrong in found.items() if wrong}


@pytest.mark.parametrize("name", ["cases-airline", "cases-retail", "cases-telecom", "cases-mock", "rescore"])
def test_some_conversations(checker: Tau2LineChecker, name: str) -> None:
    assert wrong_cases(checker, rows(name)[::EVERY]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cases-airline", "cases-retail", "cases-telecom", "cases-mock", "rescore"])
def test_all_conversations(checker: Tau2LineChecker, name: str) -> None:
    assert wrong_cases(checker, rows(name)) == {}


def test_metrics(checker: Tau2LineChecker) -> None:
    for row in rows("metrics"):
        [answer] = checker.check([row])
        assert isinstance(answer, dict)
        wanted = row["expect"]
        given = json.loads(json.dumps(answer["expect"]))
        for name, value in wanted.items():
            assert given[name] == pytest.approx(value, abs=1e-9), row["case"]


def test_banking_is_refused_by_name(checker: Tau2LineChecker) -> None:
    row = {"case": "x", "edition": "1.0.1", "domain": "banking_knowledge", "task": "task_001", "kind": "gold"}
    [answer] = checker.check([{**row, "messages": []}])
    assert "banking_knowledge" in str(answer)
