"""Every official multi-turn ground truth passes when a model plays it, in both modes, on the official simulators."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.strict_stage import RightStage

from console.benchmarks.bfcl.simulators.host import close_hosts
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.core.outcome import Outcome
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

DATA = Path(__file__).resolve().parents[3] / "data" / "bfcl"

pytestmark = pytest.mark.skipif(not (DATA / "suite.toml").is_file(), reason="official data not pulled")


@pytest.fixture(scope="module")
def suite() -> Iterator[BfclSuite]:
    yield BfclSuite(read_entry(DATA))
    close_hosts()


@pytest.mark.parametrize(
    ("category", "mode"),
    [
        ("miss_func", "fc"),
        *(
            pytest.param(category, mode, marks=pytest.mark.slow)
            for category, mode in (
                ("base", "prompt"),
                ("base", "fc"),
                ("miss_func", "prompt"),
                ("miss_param", "prompt"),
                ("miss_param", "fc"),
                ("long_context", "prompt"),
                ("long_context", "fc"),
            )
        ),
    ],
)
async def test_ground_truth_passes(suite: BfclSuite, category: str, mode: str):
    setting = Setting(mode=mode)
    cases = select_cases(suite, Selection(categories=(f"multi_turn_{category}",)), setting)
    outputs = [await suite.play(case, RightStage(), setting) for case in cases]
    verdicts = [suite.score(case, output, setting) for case, output in zip(cases, outputs, strict=True)]
    assert len(verdicts) == 200
    assert [
        case.id for case, verdict in zip(cases, verdicts, strict=True) if verdict.outcome is not Outcome.PASSED
    ] == []
