"""The rules of the leaderboard and of the grid, without an interface."""

import msgspec
import pytest

from console.benchmarks.bfcl.rules.categories import SCORING
from console.core.case import Setting
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.insight.leaderboard import leaderboards
from console.insight.trends import ListedRun
from console.tui.render.leaderboard_rows import about, heading, room_for
from console.tui.screens.leaderboard.controller import LeaderboardController


def listed_run(suite: str, model: str, passed: int, failed: int) -> ListedRun:
    tally = Tally(passed=passed, failed=failed)
    id = f"{suite}-{model}"
    summary = Summary(id, 1.0, suite, model, False, 4, tally, "completed", categories={"one": tally})
    return ListedRun(summary, Manifest(id, 1.0, suite, ModelFacts(model), Setting(), cases=4))


@pytest.fixture
def controller() -> LeaderboardController:
    """Two models on `a`, one on `b`."""
    runs = [listed_run("a", "m", 1, 3), listed_run("a", "n", 3, 1), listed_run("b", "m", 2, 2)]
    controller = LeaderboardController()
    controller.use_boards(leaderboards(runs, {}), {})
    return controller


def test_every_suite_is_a_heading_and_its_models_the_best_first(controller: LeaderboardController) -> None:
    rows = [controller.model_row(key) for key in controller.rows]
    assert [row.model if row else "" for row in rows] == ["", "n", "m", "", "m"]
    assert len(controller.headings) == 2
    assert controller.title == "2 models, 2 suites"
    assert controller.board_of(None) is None


def test_the_legend_explains_the_marks_of_all_suites() -> None:
    runs = [listed_run("a", "m", 1, 3), listed_run("b", "m", 40, 40)]
    tally = msgspec.structs.replace(runs[1].summary.tally, broken=2)
    summary = msgspec.structs.replace(runs[1].summary, tally=tally, categories={"one": tally})
    controller = LeaderboardController()
    controller.use_boards(leaderboards([runs[0], ListedRun(summary, runs[1].manifest)], {"a": {"one": 9}}), {})
    starred, noted = controller.legend
    assert starred.startswith("* incomplete")
    assert noted.startswith("~ ")


def test_steps_go_from_suite_to_suite(controller: LeaderboardController) -> None:
    keys = list(controller.rows)
    assert controller.step(keys[2], 1) == keys[4]
    assert controller.step(keys[4], 1) is None
    assert controller.step(keys[4], -1) == keys[1]
    assert controller.step(None, 1) is None


def test_columns_have_the_unit_that_the_newest_run_names() -> None:
    run = listed_run("a", "m", 1, 3)
    units = {"one": "€\x1b[2J", "absent": "s"}
    [board] = leaderboards([ListedRun(run.summary, msgspec.structs.replace(run.manifest, units=units))], {})
    assert board.units == {"one": units["one"]}
    assert "one (€^[[2J)" in heading(board, 0, room_for([board], 90)).plain


def test_a_value_stays_with_its_label_when_the_details_are_wrapped() -> None:
    run = listed_run("a", "m", 4, 6)
    tallies = {"live_simple": run.summary.tally, "simple_python": run.summary.tally}
    summary = msgspec.structs.replace(run.summary, format="bfcl", categories=tallies)
    [board] = leaderboards([ListedRun(summary, run.manifest)], {"a": dict.fromkeys(SCORING, 10)})
    for width in range(40, 110):
        shown = [line.plain.rstrip() for line in about(board, board.rows[0], "", width, 30)]
        assert any(line.startswith("live  ") for line in shown)
        assert not [line for line in shown if line.strip() in ("N/A", ".400")], width
        assert max(map(len, shown)) <= width


def test_columns_of_one_suite_are_moved_as_far_as_the_last(controller: LeaderboardController) -> None:
    first, second = controller.boards
    for _ in range(5):
        controller.move_columns(first, 1, last=3)
    assert (controller.first_column(first, 3), controller.first_column(second, 3)) == (3, 0)
    assert controller.first_column(first, 1) == 1, "a wider terminal shows more of them"
    controller.move_columns(first, -1, last=1)
    assert controller.first_column(first, 3) == 0
