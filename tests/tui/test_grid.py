"""The grid: categories by runs, the reasons that differ, the cases of a cell, and everybody's answers."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.compared_runs import CASES, CallSuite, answer_count_run, call_run
from support.quick_rows import first_size
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of

from console.core.run import ModelFacts
from console.exchange.suspects import errata_file
from console.store.errata import read_errata
from console.store.runs import RunFolder
from console.tui.render.grid_rows import category_columns, run_lines, shown_runs
from console.tui.screens.grid.controller import EVERY, GridController
from console.tui.screens.grid.screen import GridScreen

SIZES = [(80, 24), (160, 45)]


@pytest.fixture(autouse=True)
def suite(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_by(monkeypatch, CallSuite())


@pytest.fixture
def three(workspace: Any) -> list[RunFolder]:
    """Three runs of the same cases, the first and the third alike."""
    root = workspace.root / "runs"
    return [call_run(root, f"011{number}", f"gpt-{number}", number % 2) for number in range(3)]


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_the_answers_stand_in_the_cells_and_open(size: Any, opened: Any, three: list[RunFolder]) -> None:
    async with opened(size) as (app, pilot):
        app.navigator.open_grid(three)
        await see(pilot, "4 of 9 differ")
        await see(pilot, "get_current_we", "v")
        shown = text_of(app)
        assert all(f"{number + 1} gpt-{number}" in shown for number in range(3))
        assert all(end in shown for end in ("131-52", "140-58", "14-3-9", "77-40-0")), "all have the same prompt"
        key = app.screen.cases.cursor
        slot = app.screen.controller.rows[key].telling.slot
        await see(pilot, lambda: app.screen.where == "review", "l", "enter")
        assert app.screen.run_folder == three[1]
        await assert_until(pilot, lambda: app.screen.controller.cursor.slot == slot)
        await see(pilot, lambda: app.screen.where == "grid" and "get_current_we" in text_of(app), "escape")
        await see(pilot, lambda: "get_current_we" not in text_of(app) or size[0] > 80, "v")


async def test_suspect_keys_are_listed_and_decided(opened: Any, workspace: Any, three: list[RunFolder]) -> None:
    async with opened((160, 45)) as (app, pilot):
        app.services.workspace.read_all()
        await assert_until(pilot, lambda: len(app.services.workspace.runs or ()) >= 3)
        app.navigator.open_suspects(three[0].summary().suite)
        await assert_until(pilot, lambda: "Suspect keys" in text_of(app) and ", 0 decided" in text_of(app))
        first = app.screen.controller.current.slot[0]
        await see(pilot, "of 3 models")
        await see(pilot, "ambiguous, because", "X", "a")
        await pilot.press("m", "u", "d", "enter")
        await assert_until(pilot, lambda: ", 1 decided" in text_of(app) and "without contested" in text_of(app))
        (erratum,) = read_errata(errata_file(app.services.paths.data, three[0].summary().suite)).values()
        assert (erratum.case, erratum.decision, erratum.reason) == (first, "ambiguous", "mud")
        await see(pilot, lambda: any("1 contested key written" in it.plain for it in app.services.messages), "X", "u")
        path = errata_file(app.services.paths.data, three[0].summary().suite)
        assert f"## {first}: ambiguous" in path.with_suffix(".md").read_text()
        (workspace.root / "x.toml").write_text(path.read_text().replace('"mud"', '"fog"'))
        await pilot.press("X", "i", *str(workspace.root / "x.toml"), "enter")
        await assert_until(pilot, lambda: "1 decision added" in app.services.messages[-1].plain)
        assert read_errata(path)[first].reason == "fog"
        await see(pilot, lambda: "no such file" in app.services.messages[-1].plain, "X", "i", *"gone", "enter")
        await see(pilot, lambda: "Suspect keys" not in text_of(app), "escape")
        app.navigator.open_compare(three[0], three[1])
        await assert_until(pilot, lambda: app.screen.where == "compare" and app.screen.controller.pair is not None)
        app.screen.action_view_numbers()
        await see(pilot, "scores, never mixed")
        assert "without contested" in text_of(app)
        app.navigator.open_review(three[0])
        await assert_until(
            pilot, lambda: app.screen.where == "review" and app.screen.controller.cursor.slot is not None
        )
        await see(pilot, lambda: re.search(r"[▾▸] task +1 ", text_of(app)) is not None, "o", "b")
        names = [view.name for view in app.screen.controller.views.of_case()]
        app.screen.action_show_view(names.index("Scores"))
        await see(pilot, "without contested")
        app.navigator.action_go_board()
        await assert_until(pilot, lambda: app.screen.where == "board" and "not ranked by" in text_of(app))


def test_a_heading_loses_the_provider_before_the_model_is_cut(three: list[RunFolder]) -> None:
    read = opened_controller(three).grid
    assert read is not None
    for side, model in zip(read.sides, ("sim/careful", "gpt-1", "lab/some-large-model"), strict=True):
        side.manifest = msgspec.structs.replace(side.manifest, model=ModelFacts(model))
    for width, names in (
        (54, ["1 careful", "2 gpt-1", "3 some…odel"]),
        (60, ["1 sim/careful", "2 gpt-1", "3 some-…model"]),
        (120, ["1 sim/careful", "2 gpt-1", "3 some-…model"]),
    ):
        columns = category_columns(read, shown_runs(3, 0, width))
        assert [column.name for column in columns[2:]] == names


def test_where_ids_have_no_room_the_number_of_cases_stands_once(three: list[RunFolder]) -> None:
    read = opened_controller(three).grid
    assert read is not None
    for place, side in enumerate(read.sides):
        name = f"2026-11-26T2254-sim-hasty-bfcl-starter-38d6e{place}"
        side.manifest = msgspec.structs.replace(side.manifest, id=name, rollouts=4 - place)
    model = "some-large-model-of-ours"
    assert all(line.plain.count(" of 8 (repeats 1 to 2 only)") == 1 for line in run_lines(read, 78))
    for side in read.sides:
        side.manifest = msgspec.structs.replace(side.manifest, model=ModelFacts(model))
    *lines, last = (line.plain for line in run_lines(read, 78))
    assert [line[-7:] for line in lines] == ["-38d6e0", "-38d6e1", "-38d6e2"]
    assert last.strip() == "of 8 (repeats 1 to 2 only) graded in all"


def opened_controller(runs: list[RunFolder]) -> GridController:
    controller = GridController(runs, in_loop=lambda call: None, case_arrived=lambda: None)
    controller.use_runs(controller.read(None))
    return controller


def test_it_lists_what_differs_and_leads_to_two_runs_that_do(three: list[RunFolder]) -> None:
    controller = opened_controller(three)
    assert controller.status == f"4 of {len(CASES)} differ"
    assert len(controller.rows) == 4
    pairs = {row.telling.slot[0]: controller.pair_for(row.telling) for row in controller.rows.values()}
    assert pairs["live_simple_77-40-0"] == (three[0], three[1])
    assert pairs["live_simple_14-3-9"] == (three[1], three[0]), "who passed comes first"
    controller.toggle_same()
    assert len(controller.rows) == len(CASES)
    controller.find("MULTIPLE")
    assert len(controller.rows) == 2
    controller.find("argument not expected")
    assert [row.telling.slot[0] for row in controller.rows.values()] == ["live_simple_77-40-0", "live_simple_81-43-0"]
    controller.find("no such words")
    assert (controller.rows, controller.empty_words) == ({}, "Nothing matches. F clears the filter.")
    controller.find("")
    controller.list_different()
    assert len(controller.rows) == 4


def test_a_cell_lists_what_its_run_failed_before_what_it_passed(three: list[RunFolder]) -> None:
    controller = opened_controller(three)
    assert controller.category_keys == [EVERY, "category live_multiple", "category live_simple"]
    controller.go_to_category("category live_simple")
    assert [row.telling.slot[0] for row in controller.rows.values()] == ["live_simple_14-3-9", "live_simple_77-40-0"]
    assert controller.step_run(1)
    assert [row.telling.slot[0] for row in controller.rows.values()] == ["live_simple_77-40-0", "live_simple_14-3-9"]
    assert controller.step_run(1)
    assert not controller.step_run(1), "there are three runs"
    third = next(iter(controller.rows.values()))
    assert controller.pair_for(third.telling) == (three[1], three[2]), "the run under the cursor is one of the two"


def test_a_case_is_read_in_every_run_that_has_played_it(three: list[RunFolder], tmp_path: Path) -> None:
    other = call_run(tmp_path, "0118", "gpt-z", 0)
    controller = opened_controller([three[0], three[1], other])
    controller.current_key = next(iter(controller.rows))
    answers = controller.answers()
    assert answers is not None
    assert [side.comparison is not None for side in answers if side is not None] == [True, True, True]
    assert controller.answers() is answers, "kept"
    controller.use_runs(controller.read(None))
    assert controller.answers() is not answers, "read anew with the runs"
    controller.close()


def test_of_loops_the_scores_are_laid_side_by_side(tmp_path: Path) -> None:
    runs = [
        answer_count_run(tmp_path, f"0116-{name}", f"sim/{name}", counts)
        for name, counts in (("a", (5, 9, 4)), ("b", (9, 9, 8)), ("c", (1, 9, 2)))
    ]
    controller = opened_controller(runs)
    assert controller.grid is not None
    assert controller.grid.headline == "aidanbench_score"
    rates = [controller.grid.rate(place) for place in range(3)]
    assert [rate.value for rate in rates if rate is not None] == [6.0, pytest.approx(26 / 3), 4.0]
    assert controller.status == "2 of 3 differ"


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_from_a_cell_to_its_cases_to_two_runs_and_back(size: Any, opened: Any, three: list[RunFolder]) -> None:
    async with opened(size) as (app, pilot):
        app.navigator.open_grid(three)
        await assert_until(pilot, lambda: "4 of 9 differ" in text_of(app) and "[ .625" in text_of(app))
        await see(pilot, lambda: "[ .000" in text_of(app) and "2 gpt-1  .000 [.00 .66] of 2" in text_of(app), "j", "l")
        assert "wrong value: unit" in text_of(app), "why it failed there"
        screen = app.screen
        assert isinstance(screen, GridScreen)
        await see(pilot, lambda: screen.cases.has_focus and screen.cases.cursor == "0/live_multiple_131-52", "enter")
        await see(pilot, lambda: screen.cases.cursor == "0/live_multiple_140-58", "j")
        await assert_until(pilot, lambda: "EXPECTED" in text_of(app) and "'imperial'" in text_of(app))
        await see(pilot, "may be chance", "enter")
        await see(pilot, lambda: app.screen is screen and screen.cases.has_focus, "escape")
        assert screen.cases.cursor == "0/live_multiple_140-58", "the cursor is where it was"
        await see(pilot, lambda: screen.categories.has_focus and "[ .000" in text_of(app), "escape")
        assert screen.categories.cursor == "category live_multiple"
        await see(pilot, lambda: app.navigator.is_at_home, "escape")


async def test_more_runs_than_have_room_are_stepped_through(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    many = [call_run(root, f"011{number}", f"gpt-{number}", number % 2) for number in range(8)]
    async with opened((80, 24)) as (app, pilot):
        app.navigator.open_grid(many)
        await see(pilot, "[ .625")
        table = _headings(app)[0]
        assert "8 gpt-7" not in table
        await see(pilot, lambda: any("8 gpt-7" in line for line in _headings(app)), *["l"] * 7)
        assert re.search(r"\+[1-3] \d g", _headings(app)[0]), "so many more are to the left"


def _headings(app: Any) -> list[str]:
    return [line for line in text_of(app).splitlines() if " cases " in line and "category" in line]


async def test_the_grid_is_found_by_its_name(opened: Any, workspace: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        app.navigator.action_go_grid()
        assert "no three runs of one suite" in app.services.messages[-1].plain
    for name in ("a", "b", "c"):
        workspace.run(f"2025-01-17T1320-{name}", passed=3, failed=1)
    async with opened() as (app, pilot):
        await see(pilot, lambda: app.screen.where == "grid", "colon", *"grid", "enter")
        await pilot.press("1")
        await settle(app, pilot)
        app.navigator.action_go_grid()
        await assert_until(pilot, lambda: app.screen.where == "grid")
