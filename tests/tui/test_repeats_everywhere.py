"""A run whose cases were played four times has the same interval on every screen, in every report and export."""

import csv
import io
import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.graded_runs import graded_run
from support.review_opening import reviewing
from support.screen_text import settle, text_of

from console.__main__ import main
from console.core.statistics.intervals import rate_interval
from console.core.statistics.sample import Observation, sample_of
from console.exchange.run_reader import RunReader
from console.insight.comparison import compare
from console.insight.number_format import bounds, score
from console.tui.render.rollout_rows import slot_of
from console.tui.screens.compare.screen import CompareScreen
from console.tui.screens.grid.screen import GridScreen
from console.tui.screens.review.screen import ReviewScreen
from console.tui.widgets.row_list import RowList

ROOT = Path(__file__).resolve().parents[2]
ENDINGS = ("PPPP", "PPFF", "FFFF", "PPPF", "PFFF", "PPPP")
CASES = 40
CATEGORY = "multiple"


def _letters(shift: int = 0) -> dict[str, str]:
    return {f"multiple_{n}": ENDINGS[(n + shift) % len(ENDINGS)].lower() for n in range(CASES)}


LETTERS = _letters()
INTERVAL = rate_interval(
    sample_of(Observation(case, float(letter == "p")) for case, endings in LETTERS.items() for letter in endings)
)
assert INTERVAL is not None
assert INTERVAL.low is not None
assert INTERVAL.high is not None
SCORE = score(INTERVAL)
BOUNDS = bounds(INTERVAL.low, INTERVAL.high)
PERCENT = f"{INTERVAL.low:.1%} {INTERVAL.high:.1%}"
BASIS = {"cases": CASES, "rollouts": 4 * CASES, "clusters": CASES, "method": "clustered wilson"}


@pytest.fixture
def runs(workspace: Any) -> tuple[Any, Any]:
    """Two runs, of which the first is looked at."""
    shutil.copytree(ROOT / "data" / "bfcl-starter", workspace.root / "data" / "bfcl-starter")
    root = workspace.root / "runs"
    about = {"suite": "bfcl-starter", "category": CATEGORY}
    return (
        graded_run(root, "2027-01-17-second", LETTERS, model="gpt-x", **about),
        graded_run(root, "2027-01-16-first", _letters(2), model="gpt-y", **about),
    )


def test_repeats_are_no_cases() -> None:
    """As many cases played once would be twice as sure."""
    assert INTERVAL.high - INTERVAL.low > 0.2


async def test_every_screen_shows_it(opened: Any, runs: Any, frame: Any) -> None:
    run, other = runs
    async with opened((160, 45)) as (app, pilot):
        assert SCORE in frame(app), "Home"
        app.navigator.open_live(run)
        await settle(app, pilot)
        assert SCORE in frame(app), "Live"
        app.navigator.open_review(run)
        await settle(app, pilot)
        assert SCORE in frame(app), "Review"
        assert "pass@4 .825  pass^4 .325" in frame(app), "Review"  # 7 of 40 never pass, 13 always
        app.navigator.open_compare(run, other)
        await settle(app, pilot)
        assert f"A {BOUNDS}" in frame(app), "Compare"
        await pilot.press("B")
        await settle(app, pilot)
        assert SCORE in frame(app), "Leaderboard"
        await pilot.press("H")
        await settle(app, pilot)
        assert f"{BOUNDS}" in frame(app), "Trends"


@pytest.mark.parametrize("width", [80, 100, 120, 140])
async def test_the_figures_of_a_run_leave_room_for_its_name(width: int, opened: Any, runs: Any, frame: Any) -> None:
    async with opened((width, 30)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        first = frame(app).splitlines()[0]
        assert "Review" in first
        assert "reviewed" in first
        assert "…" not in first.split("Review")[0]


@pytest.mark.parametrize("size", [(80, 24), (130, 36), (160, 45)])
async def test_numbers_stand_in_the_top_line_before_names_and_words(
    size: tuple[int, int], opened: Any, runs: Any, frame: Any
) -> None:
    passed = sum(endings.count("p") for endings in LETTERS.values())
    async with opened(size) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        first = frame(app).splitlines()[0]
        assert re.search(rf"✓ {passed} +✗ {4 * CASES - passed} .*{re.escape(SCORE)} .*1 of 27  0 rev", first)
        assert ("pass@4 .825  pass^4 .325" in first) == (size[0] > 100)


async def test_rows_below_a_case_name_their_repeat(opened: Any, runs: Any, frame: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        assert "┃   flaky " in frame(app), "headings stand to the left of their cases"
        assert "┃ >   ▸ multiple_1 " in frame(app)
        assert "─ multiple_1  repeat 3 " in frame(app), "the repeat that stands for its case"
        await pilot.press("right")
        await settle(app, pilot)
        assert all(f"  repeat {number} " in frame(app) for number in (1, 2, 3, 4))
        assert "─ multiple_1 · repeat 3 " in frame(app)


async def test_a_failure_of_live_is_opened_in_review_itself(opened: Any, runs: Any) -> None:
    """Not the first rollout of its case, which may have passed."""
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_live(runs[0])
        await settle(app, pilot)
        failures = app.screen.query_one("#failures", RowList)
        failures.focus()
        key = next(key for key in failures.keys if slot_of(key)[1] > 1)
        failures.move_to(key)
        await pilot.press("enter")
        await settle(app, pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.controller.cursor.slot == slot_of(key)


async def test_a_case_is_one_row_with_a_bar_of_its_rollouts(opened: Any, runs: Any, frame: Any) -> None:
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        shown = frame(app)
        assert isinstance(app.screen, ReviewScreen)
        assert "flaky" in shown
        assert "cases with failures · by repeats" in shown
        rows = [line for line in shown.splitlines() if "multiple_1 " in line or "multiple_1│" in line]
        assert any("✓✓✗✗" in row for row in rows)
        assert "always failed" in shown
        await pilot.press("o", "r")
        await pilot.pause()
        assert "always failed" not in frame(app)


async def test_reasons_list_a_case_once_and_fold(opened: Any, runs: Any, frame: Any) -> None:
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        await pilot.press("o", "r")
        await settle(app, pilot)
        controller, triage = app.screen.controller, app.screen.controller.triage
        failed = [case for case, endings in LETTERS.items() if "f" in endings]
        assert len(triage.order) > len(failed) == triage.listed == triage.groups[0].size
        heads = [head.group.label for head in triage.heads.values() if head.group.is_case]
        assert sorted(heads) == sorted(failed), "one row for each case of the reason"
        assert f"{len(failed)} cases with failures · by reason" in frame(app)
        assert "multiple_1  repeat 3" in frame(app), "the repeat of the case under the cursor"
        assert f"of {triage.items} rows" not in frame(app), "a row for each case"
        await pilot.press("G")
        assert controller.cursor.slot == triage.order[-1].slot
        await pilot.press("o", "f")
        await settle(app, pilot)
        assert triage.section_of(controller.cursor.rollout) is triage.groups[0], "by another property, too"


async def test_more_repeats_than_fit_are_counted_and_leave_room_for_the_id(opened: Any, workspace: Any) -> None:
    letters = {"multiple_0": "f" * 90, "multiple_1": "pf" * 40}
    run = graded_run(workspace.root / "runs", "2027-01-18-many", letters, model="gpt-x", suite="bfcl-starter")
    async with reviewing(opened, run) as (app, _, _):
        lines = text_of(app).splitlines()
        assert any("multiple_0" in line and "0/90" in line and "so far" not in line for line in lines)
        assert any("multiple_1" in line and "40/80 so far" in line for line in lines)


async def test_the_repeats_of_a_case_are_opened_and_hidden(opened: Any, runs: Any, frame: Any) -> None:
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        await pilot.press("o", "n")
        await settle(app, pilot)
        controller = app.screen.controller
        cases = [case for case, endings in LETTERS.items() if "f" in endings]
        rows = app.screen.query_one("#list", RowList)
        assert len(rows.keys) == len(cases) == controller.triage.items, "one row a case, whatever the grouping"
        assert controller.cursor.slot == ("multiple_1", 2), "its first failure"
        await pilot.press("right")
        assert [slot_of(key) for key in rows.keys[1:5]] == [("multiple_1", repeat) for repeat in range(4)]
        assert not [line for line in frame(app).splitlines() if line.count("multiple_1") > 1 and "r3" in line], (
            "its question is the same for all repeats"
        )
        await pilot.press("n")
        assert controller.cursor.slot == ("multiple_1", 3)
        await pilot.press("left")
        assert len(rows.keys) == len(cases)
        await pilot.press("n")
        assert controller.cursor.slot == ("multiple_2", 0), "the next case, not its next repeat"
        await pilot.press("t", "m")
        tagged = [slot for slot, note in controller.triage.annotations.items() if note.tag == "model"]
        assert tagged == [("multiple_2", repeat) for repeat in range(4)], "the row stands for all failures"
        assert f"2 of {len(cases)}" not in frame(app)
        assert f"3 of {len(cases)}  1 reviewed" in frame(app)


async def test_the_grid_opens_and_hides_the_repeats_of_a_case(opened: Any, runs: Any, workspace: Any) -> None:
    third = graded_run(workspace.root / "runs", "2027-01-18-third", LETTERS, suite="bfcl-starter", category=CATEGORY)
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_grid([*runs, third])
        await settle(app, pilot)
        await pilot.press("enter", "j")
        await settle(app, pilot)
        rows, controller = app.screen.cases, app.screen.controller
        (reason,) = controller.grid.reasons()
        failed = [sum("f" in endings for endings in of.values()) for of in (LETTERS, _letters(2), LETTERS)]
        assert list(reason.counts) == failed, "cases, not rollouts"
        before, case = list(rows.keys), rows.cursor
        name = controller.rows[case].telling.slot[0]
        await pilot.press("x")
        await settle(app, pilot)
        assert rows.cursor == case
        assert [slot_of(key) for key in rows.keys[2:6]] == [(name, repeat) for repeat in range(4)]
        assert "repeat 4" in text_of(app)
        opened_rows = [
            line[:80] for line in text_of(app).splitlines() if f" {name} " in line[:80] or "repeat" in line[:80]
        ]
        assert sum("wrong" in line for line in opened_rows) <= 1, "its reason is said once"
        await pilot.press("j", "j")
        await settle(app, pilot)
        assert controller.current.slot == (name, 1)
        await pilot.press("v")
        await settle(app, pilot)
        await pilot.press("enter")
        await settle(app, pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.controller.cursor.slot == (name, 1)
        await pilot.press("escape", "v", "x")
        await settle(app, pilot)
        assert (list(rows.keys), rows.cursor) == (before, case)


def _export(run: Any, form: str, workspace: Any, capsys: Any) -> str:
    paths = ("--runs", str(run.path.parent), "--data", str(workspace.root / "data"))
    assert main(["export", str(run.path), "--format", form, *paths]) == 0
    return capsys.readouterr().out


def test_every_export_holds_it(runs: Any, workspace: Any, capsys: Any) -> None:
    run, _ = runs
    html = _export(run, "html", workspace, capsys)
    assert f">[{PERCENT}]</td>" in html
    assert "40 cases, 160 rollouts" in html
    assert "PPFF" in html
    markdown = _export(run, "markdown", workspace, capsys)
    assert f"| accuracy | {INTERVAL.value:.2%} | \\[{PERCENT}\\] | 40 cases, 160 rollouts |" in markdown
    assert "| pass^4 |" in markdown.replace("\\^", "^")
    report = json.loads(_export(run, "json", workspace, capsys))["report"]
    accuracy = report["metrics"][0]
    assert (accuracy["low"], accuracy["high"]) == (INTERVAL.low, INTERVAL.high)
    assert {name: accuracy[name] for name in BASIS} == BASIS
    assert len(report["repeats"]["flaky"]) == sum(0 < endings.count("p") < 4 for endings in LETTERS.values())
    rows = list(csv.DictReader(io.StringIO(_export(run, "csv", workspace, capsys))))
    again = [Observation(row["case"], float(row["outcome"] == "passed")) for row in rows]
    assert rate_interval(sample_of(again)) == INTERVAL


def test_every_verb_says_it(runs: Any, workspace: Any, capsys: Any) -> None:
    run, other = runs
    paths = ("--runs", str(run.path.parent), "--data", str(workspace.root / "data"), "--json")

    def answer(*verb: str) -> Any:
        assert main([*verb, *paths]) == 0
        return json.loads(capsys.readouterr().out)

    bounds = (INTERVAL.low, INTERVAL.high)
    shown = answer("show", str(run.path))["report"]["metrics"][0]
    assert (shown["low"], shown["high"]) == bounds
    rates = answer("compare", str(run.path), str(other.path))["table"]["rates"]["a"]
    assert (rates["low"], rates["high"]) == bounds
    assert {name: rates[name] for name in BASIS} == BASIS
    cells = next(row for row in answer("leaderboard")["boards"][0]["rows"] if row["model"] == "gpt-x")["cells"]
    assert (cells[CATEGORY]["low"], cells[CATEGORY]["high"]) == bounds
    assert {name: cells[CATEGORY][name] for name in BASIS} == BASIS
    trend = next(trend for trend in answer("trends")["trends"] if trend["model"] == "gpt-x")["points"][0]
    assert (trend["low"], trend["high"]) == bounds
    assert {name: trend[name] for name in BASIS} == BASIS


async def test_compare_lists_a_case_once_and_opens_its_repeats(opened: Any, runs: Any, frame: Any) -> None:
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_compare(*runs)
        await settle(app, pilot)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        cases = {f"case/{case}" for case in LETTERS}
        assert set(screen.changes.keys) <= cases
        listed, first = len(screen.changes.keys), screen.changes.cursor
        await pilot.press("right")
        await settle(app, pilot)
        assert len(screen.changes.keys) == listed + 4
        assert screen.changes.has_focus
        assert screen.changes.cursor == first
        name = str(first).removeprefix("case/")
        assert f"{name}  repeat " in text_of(app), "the repeat that stands for the case"
        for number in (1, 2):
            await pilot.press("j")
            await settle(app, pilot)
            assert f"{name} · repeat {number}" in text_of(app)
        assert screen.controller.position_words == f"1 of {listed} changed"
        await pilot.press("left")
        await settle(app, pilot)
        assert (len(screen.changes.keys), screen.changes.cursor) == (listed, first)
        await pilot.press("f", "a", "G", "left")
        assert not screen.changes.has_focus, "nothing to close: the pane before"
        await settle(app, pilot)
        assert set(screen.changes.keys) == cases
        assert screen.controller.position_words == f"{CASES} of {CASES} cases"


def test_the_square_and_the_changes_count_cases(runs: Any) -> None:
    first, second = (RunReader(run) for run in runs)
    found = compare(first.side, second.side)
    part = found.counts
    assert (part.cases, part.rollouts, len(found.cases), len(found.pairs)) == (CASES, 4 * CASES, CASES, 4 * CASES)
    passed = {case: endings.count("p") for case, endings in LETTERS.items()}
    others = {case: endings.count("p") for case, endings in _letters(2).items()}
    assert part.lost == sum(others[case] < passed[case] for case in LETTERS)
    assert part.gained == sum(others[case] > passed[case] for case in LETTERS)
    assert {case.name: case.passed for case in found.changes()} == {
        case: (passed[case], others[case]) for case in LETTERS if passed[case] != others[case]
    }


async def test_the_grid_says_that_only_the_repeats_of_all_runs_count(opened: Any, runs: Any, workspace: Any) -> None:
    once = {case: letters[0] for case, letters in _letters(1).items()}
    third = graded_run(workspace.root / "runs", "2027-01-15-third", once, suite="bfcl-starter", category=CATEGORY)
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_grid([*runs, third])
        await settle(app, pilot)
        assert f"of {CASES} (repeat 1 only) graded in all" in text_of(app)
        await pilot.press("enter", "f")
        await settle(app, pilot)
        screen = app.screen
        assert isinstance(screen, GridScreen)
        key, case = next((key, case) for key, case in screen.controller.rows.items() if case.slot[1])
        screen.cases.move_to(key)
        await settle(app, pilot)
        repeat = case.slot[1] + 1
        assert f"{case.slot[0]}  repeat {repeat} " in text_of(app)
        assert "3 repeat 1  " in text_of(app), "the only one of the third run"
        assert "not in 3" not in text_of(app)
        await pilot.press("x", "j")
        await settle(app, pilot)
        assert f"{case.slot[0]} · repeat 1 " in text_of(app)
        await pilot.press("j", "enter")
        await settle(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert f"{case.slot[0]} · repeat 2 " in text_of(app), "the place in the grid"


@pytest.mark.parametrize(("size", "note"), [((80, 24), ""), ((160, 45), " graded in all")])
async def test_runs_of_one_model_are_told_apart_by_their_names(
    size: tuple[int, int], note: str, opened: Any, workspace: Any
) -> None:
    names = [f"2026-11-26T2253-sim-careful-dialogue-starter-{end}" for end in ("a046a9", "c52613")]
    about = {"suite": "bfcl-starter", "category": CATEGORY, "model": "some/model"}
    runs = [graded_run(workspace.root / "runs", name, LETTERS, **about) for name in names]
    async with opened(size) as (app, pilot):
        app.navigator.open_grid(runs)
        await settle(app, pilot)
        shown = text_of(app)
        assert f"{CASES} cases, {4 * CASES} rollouts{note}   2026" in shown
        assert all(name[-6:] in shown for name in names)


async def test_every_column_of_a_list_filled_while_hidden_has_a_heading(opened: Any, workspace: Any) -> None:
    about = {"suite": "bfcl-starter", "category": CATEGORY}
    letters = ["p" * 25, "pf" * 12 + "p", "f" * 25]
    runs = [
        graded_run(workspace.root / "runs", f"run-{place}", {"multiple_1": each}, **about)
        for place, each in enumerate(letters)
    ]
    async with opened() as (app, pilot):
        app.navigator.open_grid(runs)
        await settle(app, pilot)
        await pilot.press("enter")
        await settle(app, pilot)
        heading, row = next(
            (above, line) for above, line in pairwise(text_of(app).splitlines()) if line.startswith("> multiple_1 ")
        )
        assert heading.split() == ["case", "1", "2", "3", "why"]
        assert heading.index("3") - row.index("0/25") in range(2)


async def test_the_grid_lists_a_case_once_with_how_many_repeats_pass(opened: Any, runs: Any, workspace: Any) -> None:
    letters = _letters(1) | {"multiple_2": "bbbb"}
    third = graded_run(workspace.root / "runs", "2027-01-15-third", letters, suite="bfcl-starter", category=CATEGORY)
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_grid([*runs, third])
        await settle(app, pilot)
        screen = app.screen
        assert isinstance(screen, GridScreen)
        (broken,) = (line for line in text_of(app).splitlines() if " multiple_2 " in line)
        assert re.search(r"multiple_2 +\[\d/4\] +\d/4 +! ", broken), "played, though without a grade"
        assert len({case.telling.slot[0] for case in screen.controller.rows.values()}) == len(screen.controller.rows)
        (case,) = (case for case in screen.controller.rows.values() if case.telling.slot[0] == "multiple_1")
        assert [case.passed(place) for place in range(3)] == [(2, 4), (3, 4), (0, 4)]
        assert "[2/4]   3/4    0/4" in text_of(app)
        await pilot.press("v")
        await settle(app, pilot)
        assert all(f"{passed}/4 " in text_of(app) for passed in (2, 3, 0)), "beside the answers too"


async def test_the_cursor_stays_in_sight_when_a_zoomed_list_gets_small_again(opened: Any, runs: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        await pilot.press("G", "k")
        await settle(app, pilot)
        await pilot.press("z")
        await settle(app, pilot)
        await pilot.press("z")
        await settle(app, pilot)
        assert any(line.startswith("> ") for line in text_of(app).splitlines())


async def test_the_finder_counts_repeats_and_opens_the_first_that_did_not_pass(opened: Any, runs: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        app.navigator.open_review(runs[0])
        await settle(app, pilot)
        await pilot.press("ctrl+t", *"multiple_2")
        await settle(app, pilot)
        assert re.search(r"> ✗  multiple_2 +0/4  multiple_2", text_of(app))
        await pilot.press("backspace", "4")
        await settle(app, pilot)
        assert re.search(r">    multiple_4 +1/4  multiple_4", text_of(app)), "no sign, as some passed"
        await pilot.press("enter")
        await settle(app, pilot)
        assert app.screen.controller.cursor.slot == ("multiple_4", 1)
