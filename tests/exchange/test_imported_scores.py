"""What imported scores mean: NaN is no score, an invalidated sample has none, and a count is no rate."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.inspect_logs import Json, eval_members, header, sample, write_eval, write_json_log, write_zstd_eval

from console.cli.history import read_history, report_of
from console.core.outcome import Outcome
from console.exchange.exports.every_eval_ever import export_run
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.imports.in_place import open_in_place
from console.exchange.run_reader import RunReader
from console.store.runs import RunFolder

NAN = float("nan")


def scored(name: str, **values: Any) -> Json:
    scores = {scorer: {"value": value, "answer": "4"} for scorer, value in values.items()}
    return sample(name, scores=scores)


@pytest.fixture(params=["deflated", "zstd", "json", "in place"])
def run_of(request: pytest.FixtureRequest, tmp_path: Path):
    """Import samples in each of the forms, or open their log in place."""

    def read(samples: list[Json], **head: Any) -> RunFolder:
        whole = header(samples, **head)
        if request.param == "json":
            path = write_json_log(tmp_path / "log.json", samples, whole)
        else:
            write_zip = write_zstd_eval if request.param == "zstd" else write_eval
            path = write_zip(tmp_path / "log.eval", eval_members(samples, whole))
        if request.param == "in place":
            return open_in_place(path)
        (item,) = find_items(path)
        (report,) = item.form.load(path, ImportSettings(tmp_path / "runs"))
        return RunFolder(tmp_path / "runs" / report.run)

    return read


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def verdicts(run: RunFolder) -> dict[str, tuple[Outcome | None, str]]:
    return {rollout.key.case: (rollout.outcome, rollout.reason) for rollout in RunReader(run).ordered}


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("value", [NAN, {"first": NAN}])
def test_a_score_of_nan_is_no_score_and_no_other_takes_its_place(run_of: Any, value: Any, is_named: bool) -> None:
    named = [{"name": "first", "scorer": "first", "metrics": {}}] * is_named
    samples = [scored("a", first=1.0, second="C"), scored("b", first=value, second="C")]
    run = run_of(samples, results={"total_samples": 2, "scores": named})
    assert verdicts(run) == {
        "a": (Outcome.PASSED, ""),
        "b": (Outcome.UNDECIDED, "no score in the log"),
    }
    b = RunReader(run).ordered[1]
    assert RunReader(run).conversation(b.key).finished is not None
    assert (b.scores, run.summary().tally.broken) == ({"second": 1.0}, 0)


def test_an_invalidated_sample_has_no_grade_and_says_why(run_of: Any) -> None:
    invalidation = {"timestamp": "2026-01-02T03:04:05+00:00", "author": "bea", "reason": "wrong key"}
    run = run_of([sample("a", "C"), sample("b", "C", invalidation=invalidation)], invalidated=True)
    assert verdicts(run) == {"a": (Outcome.PASSED, ""), "b": (Outcome.UNDECIDED, "invalidated in the log")}
    b = RunReader(run).ordered[1]
    assert b.message == "invalidated by bea: wrong key"
    assert (run.summary().tally.passed, run.summary().tally.undecided) == (1, 1)


def test_a_count_is_no_rate(run_of: Any, tmp_path: Path) -> None:
    run = run_of([scored(name, correct="C" if name < "c" else "I", num_turns=1) for name in "abcd"])
    metrics = {metric.name: metric for metric in report_of(read_history(run), None).metrics}
    assert (metrics["correct"].unit, metrics["correct"].value) == ("rate", 0.5)
    assert (metrics["num_turns"].unit, metrics["num_turns"].value) == ("mean", 1.0)
    written = "".join(path.read_text() for path in export_run(run, tmp_path / "out", None) if path.suffix == ".json")
    [bounds] = [
        (result["metric_config"]["min_score"], result["metric_config"]["max_score"])
        for result in json.loads(written)["evaluation_results"]
        if result["metric_config"]["metric_name"] == "num_turns"
    ]
    assert bounds != (0.0, 1.0)
