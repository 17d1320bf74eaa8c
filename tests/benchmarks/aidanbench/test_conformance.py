"""Every recorded expectation of the reference, when the cases lie beside the checkout."""

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from console.benchmarks.aidanbench.conformance import check_line

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "conformance" / "aidanbench" / "cases-public.jsonl.gz"


def same(actual: object, expected: object) -> bool:
    if isinstance(expected, float) and isinstance(actual, float | int) and not isinstance(actual, bool):
        return math.isclose(actual, expected, rel_tol=0, abs_tol=1e-9)
    return type(actual) is type(expected) and actual == expected


@pytest.mark.skipif(not CASES.is_file(), reason="conformance cases are not beside this checkout")
def test_every_recorded_expectation_is_reproduced(record_property: Callable[[str, object], None]) -> None:
    wrong: list[str] = []
    count = 0
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            count += 1
            expect = dict(row.pop("expect"))
            ours = json.loads(json.dumps(check_line(row), allow_nan=False))
            assert ours["case"] == row["case"]
            if expect.pop("error", False):
                assert ours.get("error"), row["case"]
            wrong += [
                f"{row['case']} {name}: {ours.get(name)!r}, not {value!r}"
                for name, value in expect.items()
                if not same(ours.get(name), value)
            ]
    record_property("trials", count)
    record_property("wrong", len(wrong))
    assert count > 8000
    assert wrong == []


@pytest.mark.parametrize(("kind", "value"), [("coherence", 0.0), ("similarity", 1.0)])
def test_a_judge_that_sends_no_text_is_answered_like_the_reference(kind: str, value: float) -> None:
    assert check_line({"case": "n", "kind": kind, "text": None}) == {"case": "n", "value": value}
