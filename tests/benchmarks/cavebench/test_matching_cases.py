"""How calls are matched and arguments judged, by cases of our own in the form of a conformance file.

`matching_cases.jsonl` has one turn a line: the rule, the expected calls, those that were made, and what is said of
them: every error in its words, and every metric that is not zero.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.conformance import CaveLineChecker

CASES = [json.loads(line) for line in Path(__file__).with_name("matching_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["rule"])
def test_a_turn(case: dict[str, Any]) -> None:
    row = {
        "id": case["rule"],
        "kind": "turn",
        "turn": {"query": "Do it.", "expected_function_calls": case["expected"]},
        "actual": {"content": "Done.", "calls": case["calls"], "code": [], "steps": 0, "tokens": [0, 0, 0]},
    }
    verdict = CaveLineChecker().check(row)["verdict"]
    assert verdict["validation_errors"] == case["errors"]
    assert verdict["success"] is (not case["errors"])
    assert {name: count for name, count in verdict["metrics"].items() if count} == case["metrics"]
