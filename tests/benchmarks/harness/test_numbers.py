"""What the numbers of a harness mean in a report."""

from pathlib import Path

import pytest

from console.benchmarks.harness.definition import Definition
from console.benchmarks.harness.suite import HarnessSuite
from console.core.case import Case, Setting
from console.suites.suite import Result, SuiteEntry


@pytest.mark.parametrize("deciding", ["", "right"])
@pytest.mark.parametrize("turns", [(1, 1, 1), (1, 0, 1)])
def test_a_count_that_happens_to_be_0_or_1_is_no_rate(deciding: str, turns: tuple[int, ...]) -> None:
    suite = HarnessSuite(SuiteEntry("sums", "verifiers", Path("."), "Sums"))
    suite.definition = Definition("verifiers", score=deciding)
    results: list[Result] = []
    for place, count in enumerate(turns):
        case = Case(f"c{place}", "sums")
        scores = {"right": {"numbers": {"": float(place > 0)}}, "num_turns": {"numbers": {"": count}}}
        verdict = suite.score(case, {"scores": scores}, Setting())
        results.append(Result(case.id, case.category, 0, verdict))
    metrics = {metric.name: metric for metric in suite.report(results, Setting()).metrics}
    assert metrics["right"].unit == "rate"
    assert metrics["num_turns"].unit == "mean"
