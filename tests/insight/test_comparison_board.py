"""Leaderboards and trends from what lists know of runs."""

import pytest

from console.benchmarks.bfcl.rules import categories as names
from console.core.case import Setting
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.core.statistics.intervals import wilson
from console.core.statistics.sample import Observation
from console.insight.leaderboard import leaderboards, with_interval, with_measures
from console.insight.trends import ListedRun, trends
from console.suites.leaderboard import Cell, PassRates, notes_of


def known(
    id: str, categories: dict[str, tuple[int, int, int]], *, at=1.0, model="m", suite="bfcl", **more
) -> ListedRun:
    """A run: by category passed, failed, broken."""
    tallies = {name: Tally(passed=p, failed=f, broken=b, cost_usd=0.5) for name, (p, f, b) in categories.items()}
    total = Tally(**{n: sum(getattr(it, n) for it in tallies.values()) for n in ("passed", "failed", "broken")})
    planned = total.finished
    state, scores = more.pop("state", "completed"), more.pop("scores", {})
    mode = more.pop("mode", "prompt")
    simulated = more.pop("simulated", False)
    note = "simulated" if simulated else ""
    counts = {"scores": scores, "categories": tallies, "simulated_note": note}
    summary = Summary(id, at, suite, model, simulated, planned, total, state, **counts)
    manifest = Manifest(
        id=id, at=at, suite=suite, model=ModelFacts(model), setting=Setting(mode), cases=planned, **more
    )
    return ListedRun(summary, manifest)


WHOLE = dict.fromkeys(names.SCORING, (8, 2, 0))
ENTRIES = {"bfcl": dict.fromkeys(names.SCORING, 10)}


def test_a_whole_bfcl_row_follows_the_official_formula():
    categories = dict(WHOLE, live_simple=(10, 0, 0), memory_kv=(2, 8, 0))
    (board,) = leaderboards([known("r", categories)], ENTRIES)
    cells = board.rows[0].cells
    assert board.columns[0] == "overall"
    assert set(cells) == set(board.columns)
    assert cells["live"].value == pytest.approx((1.0 + 0.8 * 3) / 4)
    assert cells["memory"].value == pytest.approx((0.2 + 0.8 + 0.8) / 3)
    agentic = (0.8 + 0.6) / 2
    assert cells["overall"].value == pytest.approx((10 * 0.8 + 10 * 0.85 + 10 * 0.8 + 30 * 0.8 + 40 * agentic) / 100)
    assert cells["overall"].note == ""
    rates = [cell for cell in cells.values() if cell.unit == "rate" and cell.value is not None]
    assert all(cell.low <= cell.value <= cell.high for cell in rates)
    assert (cells["multiple"].low, cells["multiple"].high) == pytest.approx(wilson(8, 10))
    width = cells["overall"].high - cells["overall"].low
    assert width < cells["multiple"].high - cells["multiple"].low


def test_what_only_journals_hold_is_filled_in_and_says_when_it_is_incomplete():
    entries = {"bfcl": ENTRIES["bfcl"] | {"format_sensitivity": 5200}}
    categories = {"format_sensitivity": (5, 5, 0), "multiple": (10, 0, 0)}
    (board,) = leaderboards([known("r", categories)], entries)
    assert board.rows[0].cells["cost_usd"].value == 1.0
    assert board.rows[0].cells["latency_mean_s"].value is None
    filled = with_measures(board, ("r",), {"latency_mean_s": 1.5, "format_stdev": 2.0}).rows[0].cells
    assert (filled["latency_mean_s"].value, filled["latency_mean_s"].note) == (1.5, "")
    assert (filled["format_stdev"].value, filled["format_stdev"].note) == (2.0, "incomplete: 10 of 5200")
    assert with_measures(board, ("other",), {"latency_mean_s": 1.5}) == board
    (pretended,) = leaderboards([known("r", categories, simulated=True)], entries)
    assert pretended.rows[0].cells["cost_usd"].value is None


def test_an_aggregate_with_missing_categories_has_no_number():
    (board,) = leaderboards([known("r", {"multiple": (5, 0, 0), "live_simple": (10, 0, 0)})], ENTRIES)
    cells = board.rows[0].cells
    assert (cells["overall"].value, cells["overall"].note) == (None, "2 of 21 categories")
    assert (cells["live"].value, cells["live"].note) == (None, "1 of 4 categories")
    assert board.rank(0) is None
    assert board.rules.remarks(cells) == ["overall: 2 of 21 categories"]
    assert board.legend[-1] == "— the official score needs 21 categories, the results have 2"
    assert cells["multiple"].note == "incomplete: 5 of 10"
    assert cells["live_simple"].note == ""
    assert (cells["multi_turn"].value, cells["multi_turn"].note) == (None, "N/A")
    assert cells["parallel"].value is None


def test_incomplete_rows_rank_after_complete_ones():
    worse, better = dict(WHOLE), dict.fromkeys(names.SCORING[:-1], (10, 0, 0))
    (board,) = leaderboards([known("a", worse, model="whole"), known("b", better, model="part")], ENTRIES)
    assert [row.model for row in board.rows] == ["whole", "part"]
    assert [board.rank(place) for place in range(2)] == [1, None]
    assert board.rows[1].headline(board).value is None
    assert board.rows[1].cells["web_search"].value is None
    assert board.rows[1].cells["multi_turn"].value == 1.0


def test_a_suite_without_an_official_number_ranks_by_pass_rate():
    entries = {"bfcl": dict.fromkeys(names.SCORING[:18], 10)}
    (board,) = leaderboards([known("r", dict.fromkeys(names.SCORING[:18], (8, 2, 0)))], entries)
    assert board.columns[0] == "passed"
    assert (board.rank(0), board.rows[0].headline(board).value) == (1, 0.8)
    assert board.rules.legend == "ranked by pass rate: the official score needs 21 categories, this suite has 17"


def test_failed_inferences_count_as_officially_and_are_said():
    (board,) = leaderboards(
        [known("r", dict.fromkeys(("irrelevance", "live_irrelevance", "parallel"), (5, 2, 3)))], ENTRIES
    )
    cells = board.rows[0].cells
    assert cells["parallel"].value == 0.5
    assert "3 failed inferences" in cells["parallel"].note
    assert cells["all_irrelevance"].value == pytest.approx(0.8)


def test_which_runs_count():
    runs = [
        known("whole", WHOLE, at=1),
        known("peek", {"multiple": (0, 3, 0)}, at=5),
        known("again", {"parallel": (0, 10, 0)}, at=6, parent="whole"),
        known("stopped", {"parallel": (0, 10, 0)}, at=7, state="stopped"),
        known("newer", {"parallel": (10, 0, 0)}, at=8),
        known("native", {"parallel": (1, 9, 0)}, at=9, mode="fc"),
    ]
    (board,) = leaderboards(runs, ENTRIES)
    assert [(row.model, row.mode) for row in board.rows] == [("m", "prompt"), ("m", "fc")]
    row = board.rows[0]
    assert row.runs == ("newer", "whole")
    assert row.cells["multiple"].value == 0.8
    assert row.cells["parallel"].value == 1.0
    other = known("other", {"parallel": (3, 7, 0)}, at=10, dataset={"digest": "x"})
    assert leaderboards([*runs, other], ENTRIES)[0].rows[0].cells["multiple"].value is None


def test_other_suites_rank_by_what_they_measure():
    loops = [
        known("l1", {"what": (6, 0, 0)}, suite="aidan", scores={"aidanbench_score": 4.0, "avg_coherence": 60.0}),
        known("l2", {"what": (6, 0, 0)}, suite="aidan", model="n", scores={"aidanbench_score": 9.0}, simulated=True),
    ]
    rates = [known("c", {"home": (3, 1, 1)}, suite="cave")]
    aidan, cave = leaderboards([*loops, *rates], {"cave": {"home": 5}})
    assert [(row.model, row.headline(aidan).value) for row in aidan.rows] == [("n", 9.0), ("m", 4.0)]
    assert aidan.rows[0].simulated_note == "simulated"
    assert aidan.rows[0].cells["avg_coherence"].value is None
    headline = (
        with_interval(aidan, "l1", [Observation(str(n), v) for n, v in enumerate((3, 4, 5, 3, 4, 5))])
        .rows[1]
        .headline(aidan)
    )
    assert 3 <= headline.low < 4.0 < headline.high <= 5
    repeated = [Observation(str(n // 2), v) for n, v in enumerate((5, 5, 5, 5, 5, 1, 5, 5))]
    unbounded, bounded = [
        with_interval(aidan, "l1", repeated, scale).rows[1].headline(aidan).high for scale in (None, (1.0, 5.0))
    ]
    assert bounded <= 5 < unbounded, "a mean on a scale has an interval on it"
    few = with_interval(aidan, "l1", [Observation("a", 0), Observation("b", 1)]).rows[1].headline(aidan)
    assert (few.low, few.high) == (0.0, 1.0), "counts of 0 and 1 are no rate"
    passed = cave.rows[0].headline(cave)
    assert (passed.value, passed.note) == (0.75, "incomplete: 4 of 5; 1 without a grade")


def test_trends_go_by_time_and_compare_only_like_with_like():
    runs = [
        known("late", {"multiple": (9, 1, 0)}, at=3),
        known("early", {"multiple": (5, 5, 0)}, at=1),
        known("part", {"multiple": (1, 0, 0)}, at=2),
        known("latest", {"multiple": (8, 2, 0)}, at=4),
        known("again", {"multiple": (0, 5, 0)}, at=5, parent="late"),
        known("else", {"multiple": (1, 1, 0)}, at=5, model="other"),
    ]
    first, part, other = trends(runs)
    assert [point.run for point in first.points] == ["early", "late", "latest"]
    assert [point.change for point in first.points] == [None, pytest.approx(0.4), pytest.approx(-0.1)]
    assert first.points[0].low < 0.5 < first.points[0].high
    assert (first.selection, part.selection) == ("10 cases", "1 case")
    assert [point.run for point in part.points] == ["part"], "one case of ten is no point of the other line"
    assert (other.model, len(other.points)) == ("other", 1)


class TwoHalves(PassRates):
    """Rules of another package: the mean of two categories, of which a third one only prepares."""

    columns = ("both", "left", "right")
    sums = ("both",)

    def counts(self, category):
        return category != "warm-up"

    def misfit(self, categories):
        return "" if set(categories) <= {"left", "right"} else "the suite has other categories"

    def cells(self, played):
        cells = super().cells(played)
        rates = [cells[name].value for name in ("left", "right") if name in cells]
        return cells | {"both": Cell(sum(rates) / 2, unit="plain")}


def test_a_suite_of_another_package_says_how_it_ranks():
    runs = [
        known("a", {"left": (9, 1, 0), "right": (1, 9, 0), "warm-up": (0, 5, 0)}, suite="halves"),
        known("b", {"left": (6, 4, 0), "right": (6, 4, 0)}, suite="halves", model="n"),
    ]
    (board,) = leaderboards(runs, {}, {"halves": TwoHalves()})
    assert board.columns == ("both", "left", "right")
    assert [(row.model, row.headline(board).value) for row in board.rows] == [("n", 0.6), ("m", 0.5)]
    (plain,) = leaderboards([*runs, known("c", {"middle": (1, 0, 0)}, suite="halves")], {}, {"halves": TwoHalves()})
    assert plain.columns[0] == "passed", "categories that its rules do not know"


def test_rules_that_fail_cost_their_columns_only():
    class Failing(TwoHalves):
        def cells(self, played):
            raise ZeroDivisionError

    (board,) = leaderboards([known("a", {"left": (9, 1, 0)}, suite="halves")], {}, {"halves": Failing()})
    assert board.rows[0].headline(board).value == 0.9


def test_a_score_that_the_manifest_names_stands_for_passing():
    runs = [known(id, {"x": (1, 0, 0)}, at=at, suite="s", scores={"points": at}, headline="points") for id, at in
            (("old", 1.0), ("new", 3.0))]  # fmt: skip
    (board,) = leaderboards(runs, {})
    assert (board.columns, board.rows[0].headline(board).value) == (("points",), 3.0)
    (trend,) = trends(runs)
    assert (trend.score, [point.value for point in trend.points]) == ("points", [1.0, 3.0])
    runs[1].manifest.units["points"] = "s"
    assert trends(runs)[0].show(3.0) == "3 s", "with the unit of the newest run"


def test_a_note_that_many_columns_share_is_said_once():
    cells = {name: Cell(0.5, note="few clusters") for name in "abcde"} | {"f": Cell(None, note="few clusters")}
    assert notes_of(cells | {"g": Cell(1.0, note="incomplete")}) == [
        "a, b, c and 2 more: few clusters",
        "g: incomplete",
    ]
