"""A headline named in suite.toml comes first, stays on its scale, and must be a score of some row."""

from pathlib import Path

import pytest
from support.row_suite import SETTING, suite_in, write_folder

from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.suite import Result
from console.suites.summing import summed_up

ROWS = [{"prompt": "?", "judge": {"criteria": [{"name": "clear"}, {"name": "kind"}]}}]


def test_the_headline_is_first_and_never_off_its_scale(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, ROWS, toml='headline = "judge"\n'))
    assert suite.headline == "judge"
    suite.settle({}, {})
    verdicts = [Verdict(Outcome.PASSED, scores={"clear": 5.0, "judge": grade}) for grade in (5.0, 5.0, 5.0, 4.5, 5.0)]
    results = [Result(str(number), "cases", 0, verdict) for number, verdict in enumerate(verdicts)]
    metrics = summed_up(suite, results, SETTING).metrics
    assert [metric.name for metric in metrics] == ["judge", "accuracy", "clear"]
    for metric in (metrics[0], metrics[2]):
        assert metric.low is not None
        assert metric.high is not None
        assert 1 <= metric.low < metric.value <= metric.high <= 5  # type: ignore[operator]


def test_shares_never_leave_their_scale_either(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, [{"prompt": "?", "instructions": {"words": 1}}]))
    shares = (1.0, 1.0, 0.5)
    verdicts = [Verdict(Outcome.FAILED, scores={"instructions": share, "tests": share}) for share in shares]
    results = [Result(str(number), "cases", 0, verdict) for number, verdict in enumerate(verdicts)]
    metrics = {metric.name: metric for metric in suite.report(results, SETTING).metrics}
    for name in ("instructions", "tests"):
        assert 0 <= (metrics[name].low or 0) < (metrics[name].high or 0) <= 1


def test_a_headline_that_no_row_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case has a score 'juge'"):
        suite_in(write_folder(tmp_path, ROWS, toml='headline = "juge"\n')).settle({}, {})
