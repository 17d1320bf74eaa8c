"""Headlines named in suite.toml come first with their units, stay on their scale, and must be scores of some row."""

import json
from pathlib import Path

import msgspec
import pytest
from support.exported_runs import played
from support.row_suite import SETTING, suite_in, write_folder

from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.run import Summary, Tally
from console.exchange.exports.every_eval_ever import export_run
from console.insight.number_format import metric_bounds, metric_value
from console.insight.run_number import headline
from console.suites.leaderboard import Played
from console.suites.leaderboard_rules import rules_for
from console.suites.report import build_report
from console.suites.suite import Metric, Result

ROWS = [{"prompt": "?", "judge": {"criteria": [{"name": "clear"}, {"name": "kind"}]}}]


def metrics_of(folder: Path, toml: str, grades: tuple[float, ...]) -> list[Metric]:
    suite = suite_in(write_folder(folder, ROWS, toml=toml))
    suite.cases((), SETTING)
    suite.settle({}, {})
    verdicts = [Verdict(Outcome.PASSED, scores={"clear": 5.0, "judge": grade}) for grade in grades]
    results = [Result(str(number), "cases", 0, verdict) for number, verdict in enumerate(verdicts)]
    return list(build_report(suite, results, SETTING).metrics)


def test_the_headline_is_first_and_never_off_its_scale(tmp_path: Path) -> None:
    metrics = metrics_of(tmp_path, 'headline = "judge"\n', (5.0, 5.0, 5.0, 4.5, 5.0))
    assert [metric.name for metric in metrics] == ["judge", "accuracy", "clear"]
    for metric in (metrics[0], metrics[2]):
        assert metric.low is not None
        assert metric.high is not None
        assert 1 <= metric.low < metric.value <= metric.high <= 5  # type: ignore[operator]


def test_several_headlines_are_first_in_their_order_and_have_units(tmp_path: Path) -> None:
    toml = 'headline = ["judge", "passed"]\n[units]\njudge = "points"\n'
    metrics = metrics_of(tmp_path, toml, (5.0, 4.0, 3.5))
    assert [metric.name for metric in metrics] == ["judge", "accuracy", "clear"]
    by_rate = metrics_of(tmp_path, 'headline = ["passed", "clear"]\n', (5.0, 4.0))
    assert [metric.name for metric in by_rate] == ["accuracy", "clear", "judge"]
    stars = metrics_of(tmp_path, '[units]\njudge = "of 5 stars"\n', (5.0, 4.0, 3.5))
    assert [metric_value(metric.value, metric.unit) for metric in stars if metric.name == "judge"] == ["4.2 of 5 stars"]


def test_grades_stay_on_their_scale_where_only_their_mean_may_leave_it(tmp_path: Path) -> None:
    row = {"prompt": "?", "judge": {"scale": [0, 1], "clip": False, "criteria": [{"name": "kind", "tags": ["tone"]}]}}
    suite = suite_in(write_folder(tmp_path, [row]))
    assert suite.scales["kind"] == (0.0, 1.0)
    assert not {"judge", "tone"} & suite.scales.keys()


def test_a_score_has_one_form_in_all_categories(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, ROWS))
    verdicts = [("a", 0.5), ("a", 1.0), ("b", 0.0), ("b", 1.0)]
    results = [
        Result(str(number), category, 0, Verdict(Outcome.PASSED, scores={"share": value}))
        for number, (category, value) in enumerate(verdicts)
    ]
    report = build_report(suite, results, SETTING)
    assert {metric.unit for metric in (report.metrics[1], *(of[1] for of in report.categories.values()))} == {"mean"}
    only_rates = build_report(suite, results[2:], SETTING)
    assert only_rates.metrics[1].unit == "rate"


def test_a_unit_is_shown_whatever_its_name_and_a_small_number_with_it_keeps_two_digits() -> None:
    assert metric_value(1.0, "points") == "1 points"
    assert [metric_value(value, "$") for value in (0.0065, 0.0, -0.0123, 0.31)] == [
        ".0065 $",
        "0 $",
        "-.012 $",
        ".31 $",
    ]
    assert metric_bounds(Metric("price", 0.0065, 0.0024, 0.0107, unit="$")) == "[.0024 .011]"


def summary(name: str, *further: str) -> Summary:
    return Summary(
        id="r", at=0.0, suite="s", model="m", simulated=False, planned=4, state="completed",
        tally=Tally(passed=3, failed=1), scores={"seconds": 12.5, "share": 40.0},
        headline=name, further_headlines=further,
        units={"seconds": "s", "share": "%"},
    )  # fmt: skip


def test_a_run_is_named_with_its_headlines_and_units() -> None:
    assert headline(summary("seconds", "share", "")) == "mean 12.5 s · share 40% · passed .750"
    assert headline(summary("seconds", "share"), brief=True) == "mean 12.5 s"
    assert headline(summary("", "share")).endswith(" · share 40%")
    assert headline(msgspec.structs.replace(summary("seconds"), units={})) == "mean 12.5"


def test_the_leaderboard_has_the_headlines_first() -> None:
    rules = rules_for(None, "python", (), "f", ("z", "y"))
    cells = rules.cells(Played({}, {}, {"a": 1.0, "f": 2.0, "y": 3.0, "z": 4.0}, False))
    assert list(cells) == ["f", "z", "y", "a"]
    by_rate = rules_for(None, "python", (), "", ("z",))
    cells = by_rate.cells(Played({"cats": Tally(passed=1)}, {"cats": 1}, {"a": 1.0, "z": 4.0}, False))
    assert list(cells) == ["passed", "z", "cats"]


def test_the_leaderboard_names_the_units_in_its_columns(console, home: Path) -> None:
    place = played(home / "runs").path / "run.json"
    plan = json.loads(place.read_text()) | {"headline": "style", "units": {"coherence": "%", "style": "of 1\x1b[2J"}}
    place.write_text(json.dumps(plan))
    first = console("leaderboard").out.splitlines()[1]
    assert first.endswith("  style (of 1^[[2J)  coherence (%)")
    [board] = console("leaderboard", "--json").data["boards"]
    assert board["units"] == plan["units"]


def test_a_comparison_names_the_unit_of_the_headline(console, home: Path) -> None:
    runs = [played(home / "runs").path, played(home / "others").path]
    for run in runs:
        plan = json.loads((run / "run.json").read_text()) | {"headline": "style", "units": {"style": "of 5"}}
        (run / "run.json").write_text(json.dumps(plan))
    assert " style (of 5) per case" in console("compare", *map(str, runs)).out


def test_shares_never_leave_their_scale_either(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, [{"prompt": "?", "instructions": {"words": 1}}]))
    shares = (1.0, 1.0, 0.5)
    verdicts = [Verdict(Outcome.FAILED, scores={"instructions": share, "tests": share}) for share in shares]
    results = [Result(str(number), "cases", 0, verdict) for number, verdict in enumerate(verdicts)]
    metrics = {metric.name: metric for metric in suite.report(results, SETTING).metrics}
    for name in ("instructions", "tests"):
        assert 0 <= (metrics[name].low or 0) < (metrics[name].high or 0) <= 1


def test_an_exported_score_has_the_bounds_and_unit_of_its_suite(tmp_path: Path) -> None:
    run = played(tmp_path / "runs")
    place = run.path / "run.json"
    plan = json.loads(place.read_text()) | {"scales": {"style": [0, 1]}, "units": {"coherence": "%"}}
    place.write_text(json.dumps(plan))
    aggregate = json.loads(export_run(run, tmp_path / "out", None)[0].read_text())
    metrics = {item["metric_config"]["metric_name"]: item["metric_config"] for item in aggregate["evaluation_results"]}
    bounds = {name: (config["min_score"], config["max_score"]) for name, config in metrics.items()}
    assert bounds == {"passed": (0, 1), "style": (0, 1), "coherence": ("-Infinity", "Infinity")}
    assert metrics["coherence"]["metric_unit"] == "%"
    details = {item["metric_config"]["metric_name"]: item["score_details"] for item in aggregate["evaluation_results"]}
    interval = details["style"]["uncertainty"]["confidence_interval"]
    assert 0 <= interval["lower"] < interval["upper"] <= 1


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('headline = "juge"\n', "headline: no case has the score 'juge'"),
        ('headline = ["judge", "juge"]\n', "headline: no case has the score 'juge'"),
        ('[units]\njuge = "s"\n', "units: no case has the score 'juge'"),
        ("headline = [1]\n", "must be the name of a score, or a list"),
        ("[units]\njudge = 1\n", "must be the name of a unit"),
    ],
)
def test_a_headline_or_unit_that_no_row_has_is_refused(tmp_path: Path, toml: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        metrics_of(tmp_path, toml, ())
