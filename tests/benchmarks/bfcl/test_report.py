"""Reports: the official formula, intervals, missing parts, and failed inferences beside the official number."""

import pytest

from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.aggregate import PARTS
from console.benchmarks.bfcl.rules.report import report
from console.benchmarks.bfcl.rules.variation import CONFIGS
from console.core.case import Setting
from console.core.outcome import Outcome, Verdict
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.insight.leaderboard import leaderboards
from console.insight.trends import ListedRun
from console.suites.suite import Metric, Report, Result

ENTRIES = dict.fromkeys(names.SCORING, 10) | {"live_multiple": 70}


def _results(category: str, passed: int, count: int) -> list[Result]:
    outcomes = [Outcome.PASSED] * passed + [Outcome.FAILED] * (count - passed)
    return [Result(f"{category}_{n}", category, 0, Verdict(outcome)) for n, outcome in enumerate(outcomes)]


def _metrics(found: Report) -> dict[str, Metric]:
    return {metric.name: metric for metric in found.metrics}


def test_the_overall_number_follows_the_official_formula():
    shares = dict.fromkeys(names.SCORING, 0.5) | {"simple_java": 0.2, "live_multiple": 0.9, "irrelevance": 1.0}
    shares |= {"memory_kv": 0.8, "multi_turn_base": 0.1}
    results = [r for name, share in shares.items() for r in _results(name, round(share * ENTRIES[name]), ENTRIES[name])]
    found = report(results, ENTRIES, comparable=True)
    metrics = _metrics(found)
    non_live = ((0.5 + 0.2 + 0.5) / 3 + 0.5 + 0.5 + 0.5) / 4
    live = (70 * 0.9 + 30 * 0.5) / 100
    memory = (0.8 + 0.5 + 0.5) / 3
    expected = (10 * non_live + 10 * live + 10 * 0.75 + 30 * (0.1 + 1.5) / 4 + 40 * (0.5 + memory) / 2) / 100
    assert found.metrics[0].name == "overall"
    assert metrics["overall"].value == pytest.approx(expected)
    assert metrics["overall"].note == ""
    assert metrics["live"].value == pytest.approx(live)
    assert metrics["relevance"].value == 0.5


def test_an_aggregate_with_missing_categories_has_no_number():
    results = _results("simple_python", 8, 10) + _results("multiple", 5, 10)
    found = report(results, ENTRIES, comparable=True)
    metrics = _metrics(found)
    assert found.metrics[0].name == "accuracy"
    assert found.metrics[0].value == pytest.approx(13 / 20)
    assert (metrics["overall"].value, metrics["overall"].note) == (None, "2 of 21 categories")
    assert (metrics["non_live"].count, metrics["non_live"].note) == (20, "2 of 6 categories")
    assert (metrics["simple"].value, metrics["simple"].low, metrics["simple"].note) == (None, None, "1 of 3 categories")
    assert "agentic" not in metrics


def test_a_category_played_in_part_is_not_whole():
    results = [result for name in names.SCORING for result in _results(name, 5, ENTRIES[name])]
    left_out = next(result for result in results if result.category == "memory_kv")
    found = _metrics(report([one for one in results if one is not left_out], ENTRIES, comparable=True))
    assert found["overall"].note == "incomplete: 20 of 21 categories complete"
    assert found["memory"].value is not None
    assert found["memory"].note == "incomplete: 2 of 3 categories complete"


def test_every_sum_has_an_interval_and_says_what_the_leaderboard_says():
    results = [result for name in names.SCORING[:15] for result in _results(name, 5, 10)]
    found = _metrics(report(results, ENTRIES, comparable=True))
    tallies = {name: Tally(passed=5, failed=5) for name in names.SCORING[:15]}
    summary = Summary("r", 1.0, "bfcl", "m", False, 150, Tally(passed=75, failed=75), "completed", categories=tallies)
    manifest = Manifest("r", 1.0, "bfcl", ModelFacts("m"), Setting())
    [board] = leaderboards([ListedRun(summary, manifest)], {"bfcl": ENTRIES})
    cells = board.rows[0].cells | {"irrelevance": board.rows[0].cells["all_irrelevance"]}
    for name in PARTS:
        if name in found and found[name].value is not None:
            assert (found[name].low, found[name].high) != (None, None)
            assert (cells[name].value, cells[name].low, cells[name].high) == pytest.approx(
                (found[name].value, found[name].low, found[name].high)
            )
        if name in found and name != "relevance":
            assert cells[name].note == found[name].note or cells[name].value is None


def test_other_data_are_not_called_comparable():
    results = [result for name in names.SCORING for result in _results(name, 5, ENTRIES[name])]
    assert "not comparable" in report(results, ENTRIES, comparable=False).metrics[0].note


def test_every_rate_has_its_interval_and_partial_runs_are_said():
    [accuracy] = report(_results("multiple", 3, 4), ENTRIES, comparable=True).categories["multiple"]
    assert accuracy.value == 0.75
    assert accuracy.low == pytest.approx(0.3006, abs=1e-4)
    assert accuracy.high == pytest.approx(0.9544, abs=1e-4)
    assert accuracy.count == 4
    assert accuracy.note == "4 of 10 entries"
    [perfect] = report(_results("multiple", 10, 10), ENTRIES, comparable=True).categories["multiple"]
    assert (perfect.high, perfect.note) == (1.0, "")


def test_failed_inferences_are_no_answers_but_the_official_number_is_shown():
    broken = [Result("irrelevance_8", "irrelevance", 0, Verdict(Outcome.BROKEN, "server"))]
    broken += [Result("irrelevance_9", "irrelevance", 0, Verdict(Outcome.BROKEN, "x", official="passed"))]
    found = report(_results("irrelevance", 4, 8) + broken, ENTRIES, comparable=True)
    metrics = {metric.name: metric for metric in found.categories["irrelevance"]}
    assert metrics["accuracy"].value == 0.5
    assert metrics["accuracy"].count == 8
    assert metrics["official"].value == pytest.approx(0.6)
    assert metrics["inference_errors"].value == 2
    assert found.outcomes[Outcome.BROKEN] == 2


def test_a_broken_inference_is_officially_wrong_elsewhere():
    broken = [Result("multiple_9", "multiple", 0, Verdict(Outcome.BROKEN, "server"))]
    found = report(_results("multiple", 3, 3) + broken, ENTRIES, comparable=True).categories["multiple"]
    metrics = {metric.name: metric for metric in found}
    assert (metrics["accuracy"].value, metrics["official"].value) == (1.0, 0.75)


def test_prerequisites_are_not_scored():
    prerequisite = Result("memory_kv_prereq_0-student-0", "memory_kv", 0, Verdict(Outcome.PASSED))
    found = report([*_results("memory_kv", 1, 2), prerequisite], ENTRIES, comparable=True)
    assert found.categories["memory_kv"][0].count == 2


def test_format_sensitivity_spreads_over_the_variations():
    passed = [(CONFIGS[0], True), (CONFIGS[0], True), (CONFIGS[1], True), (CONFIGS[1], False)]
    results = [
        Result(
            f"format_sensitivity_{n}:{config}:parallel_1",
            "format_sensitivity",
            0,
            Verdict(Outcome.PASSED if right else Outcome.FAILED),
        )
        for n, (config, right) in enumerate(passed)
    ]
    found = {metric.name: metric.value for metric in report(results, ENTRIES, comparable=True).metrics}
    assert found["accuracy_max_delta"] == 50.0
    assert found["accuracy_variance"] == 1250.0
    assert found["accuracy_std"] == pytest.approx(35.36)


def test_nothing_finished_is_no_number():
    found = report([], ENTRIES, comparable=True)
    assert found.metrics[0].value is None
    assert found.categories == {}
