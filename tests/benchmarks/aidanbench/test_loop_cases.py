"""Where loops end and what they come to, by cases of our own in the form of a conformance file."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.aidanbench.conformance import check_line

CASES = [json.loads(line) for line in Path(__file__).with_name("loop_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["rule"])
def test_a_loop(case: dict[str, Any]) -> None:
    measured = check_line({"case": case["rule"], "kind": "loop"} | case)
    assert {name: measured[name] for name in case["expect"]} == case["expect"]
