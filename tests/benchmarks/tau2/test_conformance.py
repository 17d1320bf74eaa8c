"""Agreement with recorded conversations of the original, where the shared cases lie beside the checkout."""

import asyncio
import gzip
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.tau2.conformance import line_checker
from console.benchmarks.tau2.data.pull import pull
from console.benchmarks.tau2.suite import Tau2Suite
from console.core.case import Setting
from console.suites.line_checks import RowChecker
from console.suites.pull import Pull
from console.suites.suite import SuiteEntry
from console.testing.stage import CutOff, MemoryStage

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "conformance" / "tau2"
DRAWN = re.compile(r"\bB[0-9a-f]{8}\b")
EVERY = 25
"""Rows between two that the quick test plays."""
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no shared conformance cases beside this checkout")


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> RowChecker:
    request = Pull(tmp_path_factory.mktemp("data"), lambda _: None, CASES / "data" / "tau2-1.0.1-data.tar.gz")
    return line_checker(pull(request))


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


def wrong_cases(checker: RowChecker, chosen: list[dict[str, Any]]) -> dict[str, list[str]]:
    answers = zip(chosen, checker.check(chosen), strict=True)
    found = {
        row["case"]: differences(row, answer) if isinstance(answer, dict) else [str(answer)] for row, answer in answers
    }
    return {case: wrong for case, wrong in found.items() if wrong}


@pytest.mark.parametrize("name", ["cases-airline", "cases-retail", "cases-telecom", "cases-mock", "rescore"])
def test_some_conversations(checker: RowChecker, name: str) -> None:
    assert wrong_cases(checker, rows(name)[::EVERY]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cases-airline", "cases-retail", "cases-telecom", "cases-mock", "rescore"])
def test_all_conversations(checker: RowChecker, name: str) -> None:
    assert wrong_cases(checker, rows(name)) == {}


def test_metrics(checker: RowChecker) -> None:
    for row in rows("metrics"):
        [answer] = checker.check([row])
        assert isinstance(answer, dict)
        wanted = row["expect"]
        given = json.loads(json.dumps(answer["expect"]))
        for name, value in wanted.items():
            assert given[name] == pytest.approx(value, abs=1e-9), row["case"]


def test_banking_is_refused_by_name(checker: RowChecker) -> None:
    row = {"case": "x", "edition": "1.0.1", "domain": "banking_knowledge", "task": "task_001", "kind": "gold"}
    [answer] = checker.check([{**row, "messages": []}])
    assert "banking_knowledge" in str(answer)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Tau2Suite:
    request = Pull(tmp_path_factory.mktemp("data"), lambda _: None, CASES / "data" / "tau2-1.0.1-data.tar.gz")
    folder = pull(request)
    sources = folder / "1.0.1" / "sources"
    sources.mkdir()
    (sources / "llm_agent.py").write_text('AGENT_INSTRUCTION = "Help the customer."')
    return Tau2Suite(SuiteEntry("tau2", "tau2", folder, "τ²"))


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["airline", "retail", "telecom"])
def test_official_tasks_go_on_after_any_step(suite: Tau2Suite, domain: str) -> None:
    setting = Setting(mode="fc")
    for case in suite.cases([domain], setting)[:10]:
        whole = MemoryStage(case.id)
        output = asyncio.run(suite.play(case, whole, setting))
        for count in range(len(whole.journal)):
            cut = MemoryStage(case.id, cut_after=count)
            with pytest.raises(CutOff):
                asyncio.run(suite.play(case, cut, setting))
            rest = MemoryStage(case.id, journal=cut.journal)
            assert asyncio.run(suite.play(case, rest, setting)) == output
            assert (rest.unused, rest.journal) == (0, whole.journal)


@pytest.mark.slow
def test_an_airline_case_costs_at_most_30_ms_of_cpu(suite: Tau2Suite) -> None:
    setting = Setting(mode="fc")
    cases = suite.cases(["airline"], setting)
    suite.score(cases[0], asyncio.run(suite.play(cases[0], MemoryStage("first"), setting)), setting)  # loads the data
    start = time.process_time()
    for case in cases:
        suite.score(case, asyncio.run(suite.play(case, MemoryStage(case.id), setting)), setting)
    assert time.process_time() - start <= 0.030 * len(cases)  # some 4 ms each on a slow machine
