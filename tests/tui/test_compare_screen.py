"""Compare and the leaderboard: frames at two sizes, every key, hostile text, and states with nothing to show."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from support.compared_runs import CASES, CallSuite, answer_count_run, call_run
from support.quick_rows import first_size
from support.recorded_runs import Recorder, call_reply
from support.run_suites import compare_by
from support.screen_text import see, text_of

from console.benchmarks.bfcl.leaderboard import BFCL_LEADERBOARD
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.data.runs import read_run
from console.tui.navigation import newest_alike
from console.tui.render.leaderboard_rows import columns_of
from console.tui.screens.compare.screen import CompareScreen
from console.tui.screens.leaderboard.controller import LeaderboardController
from console.tui.screens.leaderboard.screen import LeaderboardScreen

SIZES = [(80, 24), (160, 45)]


@pytest.fixture
def two(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[RunFolder, RunFolder]:
    """Two runs of the same cases."""
    compare_by(monkeypatch, CallSuite())
    root = workspace.root / "runs"
    return call_run(root, "0116-0904", "gpt-w", 0), call_run(root, "0117-1420", "gpt-x", 1)


@pytest.fixture
def compared(opened: Any, two: Any, settle: Any) -> Callable[..., Any]:
    """Open the app on the comparison of the two runs."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def open_it(*arguments: Any):
        async with opened(*arguments) as (app, pilot):
            app.navigator.open_compare(*two)
            await pilot.pause()
            await settle(app, pilot)
            yield app, pilot

    return open_it


def where(app: ConsoleApp) -> str:
    screen = app.screen
    assert isinstance(screen, CompareScreen)
    return screen.controller.current.slot[0] if screen.controller.current else ""


# Compare -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (130, 36), (160, 45)], ids=str)
async def test_the_sorted_column_is_shown_before_any_description(size: tuple[int, int], compared: Any) -> None:
    async with compared(size) as (app, pilot):
        await see(pilot, "Δ time ↓", "s", "t")
        await see(pilot, lambda: "case ↑" in text_of(app) and "Δ time" not in text_of(app), "s", "i")


async def test_it_opens_on_what_was_lost(compared: Any) -> None:
    async with compared() as (app, _):
        assert where(app) == "live_multiple_131-52"


async def test_stepping_goes_through_the_changes(compared: Any, settle: Any) -> None:
    async with compared() as (app, pilot):
        seen = [where(app)]
        for _ in range(4):
            await pilot.press("n")
            seen.append(where(app))
        assert seen == [
            "live_multiple_131-52", "live_multiple_140-58", "live_simple_77-40-0", "live_simple_14-3-9",
            "live_simple_14-3-9",
        ]  # fmt: skip
        assert "last one" in app.services.messages[-1].plain
        await pilot.press("N")
        assert where(app) == "live_simple_77-40-0"


async def test_the_filter_lists_other_pairs(compared: Any) -> None:
    async with compared() as (app, pilot):
        for letter, ids in (
            ("g", ["live_simple_14-3-9"]),
            ("b", ["live_simple_80-42-0", "live_simple_81-43-0"]),
            ("o", ["live_simple_92-47-0"]),
        ):
            await pilot.press("f", letter)
            await pilot.pause()
            assert [pair.slot[0] for pair in app.screen.controller.changes.values()] == ids
        await pilot.press("f", "a")
        await pilot.pause()
        assert len(app.screen.controller.changes) == len(CASES)
        await pilot.press("slash", *"lang", "enter")
        await pilot.pause()
        assert [pair.slot[0] for pair in app.screen.controller.changes.values()] == [
            "live_simple_77-40-0", "live_simple_81-43-0",
        ]  # fmt: skip
        await pilot.press("F")
        await pilot.pause()
        assert len(app.screen.controller.changes) == 4


async def test_swapping_keeps_the_case(compared: Any, frame: Any) -> None:
    async with compared() as (app, pilot):
        await pilot.press("n", "n")
        assert where(app) == "live_simple_77-40-0"
        before = app.screen.controller.pair.comparison.counts
        await pilot.press("b")
        await pilot.pause()
        after = app.screen.controller.pair.comparison.counts
        assert (after.lost, after.gained) == (before.gained, before.lost)
        assert where(app) == "live_simple_77-40-0"
        assert "A gpt-x" in frame(app)


async def test_the_list_ends_where_the_panes_beside_it_do(opened: Any, two: Any, settle: Any) -> None:
    """Also if nothing was lost, so that no reasons are listed below it."""
    async with opened((160, 45)) as (app, pilot):
        for runs in (two, (two[0], two[0])):
            app.navigator.open_compare(*runs)
            await settle(app, pilot)
            bottoms = {app.screen.query_one(name).region.bottom for name in ("#list-side", "#case-side")}
            last = app.screen.lost_reasons if runs == two else app.screen.changes
            assert bottoms == {last.region.bottom}


@pytest.mark.parametrize("width", [120, 130, 160])
async def test_the_case_has_seventy_cells_before_the_list_grows(width: int, compared: Any) -> None:
    async with compared((width, 36)) as (app, _):
        assert app.screen.query_one("#case-side").region.width >= 70
        assert app.screen.query_one("#list-side").region.width >= 34


async def test_ids_are_whole_before_reasons_are(compared: Any) -> None:
    async with compared((130, 36)) as (app, _):
        assert "live_multiple_131-52" in text_of(app)[: text_of(app).index("live_multiple_140-58")]


async def test_the_numbers_need_no_case(compared: Any) -> None:
    async with compared() as (app, pilot):
        await pilot.press("slash", *"nothing like it", "enter")
        await see(pilot, "exact McNemar", "i")
        assert "Nothing matches" in text_of(app)


async def test_both_runs_are_named_while_they_are_read(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CompareScreen, "action_reload", lambda screen: None)
    names = [
        f"2026-11-26T2253-sim-{model}-dialogue-starter-{end}"
        for model, end in (("careful", "a046a9"), ("hasty", "56c855"))
    ]
    async with opened() as (app, pilot):
        app.navigator.open_compare(*(call_run(workspace.root / "runs", name, "m", 0) for name in names))
        await see(pilot, lambda: isinstance(app.screen, CompareScreen))
        assert re.search(r"2026-11\S+…\S+a046a9 and 2026-11\S+…\S+56c855", text_of(app))


async def test_views_show_what_each_side_said(compared: Any, assert_frame: Any) -> None:
    async with compared() as (app, pilot):
        await pilot.press("v", "v")
        await pilot.pause()
        assert_frame(app, "compare-talk-b-80x24")


@pytest.mark.parametrize(("key", "side"), [("enter", 1), ("a", 0)])
async def test_a_pair_opens_in_review(key: str, side: int, compared: Any, two: Any, settle: Any) -> None:
    async with compared() as (app, pilot):
        await pilot.press("n", key)
        await settle(app, pilot)
        assert app.screen.where == "review"
        assert app.screen.run_folder.path == two[side].path
        await pilot.press("4")
        assert where(app) == "live_multiple_140-58"


async def test_exports_and_copies(compared: Any, workspace: Any) -> None:
    async with compared() as (app, pilot):
        for letter, extension, words in (("m", "md", "### A gpt-w"), ("c", "csv", "case,rollout"), ("j", "json", "{")):
            await pilot.press("E", letter)
            await pilot.pause()
            (path,) = workspace.root.glob(f"compare-*.{extension}")
            assert path.read_text().startswith(words)
            assert path.name in app.services.messages[-1].plain
        await pilot.press("y", "t")
        await pilot.pause()
        assert app.clipboard.startswith("### A gpt-w")
        await pilot.press("y", "c")
        await pilot.pause()
        assert app.clipboard.startswith("eval-console compare 0116-0904 0117-1420 --models ")


async def test_another_run_can_be_picked(compared: Any, workspace: Any, settle: Any, frame: Any) -> None:
    call_run(workspace.root / "runs", "0118-0001", "gpt-y", 0)
    async with compared() as (app, pilot):
        await pilot.press("p")
        await pilot.pause()
        assert "Compare 0116-0904 with" in frame(app)
        await pilot.press("j", "enter")
        await settle(app, pilot)
        assert {folder.name for folder in app.screen.controller.folders} <= {"0116-0904", "0117-1420", "0118-0001"}
        assert app.screen.where == "compare"


async def test_runs_without_a_case_in_common(opened: Any, workspace: Any, settle: Any, frame: Any) -> None:
    a, b = workspace.run("2025-01-17T1320-a", passed=2), workspace.run("2025-01-17T1321-b", passed=2, category="why")
    async with opened() as (app, pilot):
        app.navigator.open_compare(a, b)
        await settle(app, pilot)
        assert "no case in common" in frame(app)
        await pilot.press("n", "enter", "b", "v")
        assert app.screen.where == "compare"


async def test_a_run_that_is_gone_is_said(opened: Any, two: Any, settle: Any, frame: Any) -> None:
    two[1].manifest_path.unlink()
    async with opened() as (app, pilot):
        app.navigator.open_compare(*two)
        await settle(app, pilot)
        assert "run.json is missing" in frame(app)


@pytest.mark.slow
async def test_hostile_text_is_only_shown(
    opened: Any, workspace: Any, settle: Any, frame: Any, all_hostile: Any
) -> None:
    folders = []
    for side in (0, 1):
        recorder = Recorder(
            workspace.root / "runs", cases=2, name=f"011{side}", suite="x", model=ModelFacts("[/x]\x1b[2J")
        )
        for place, text in enumerate(all_hostile):
            text = text.encode("utf-8", "replace").decode()
            key = recorder.start(f"{place}{text}", text, text)
            recorder.ask(key, text, call_reply(text, text))
            failed = side and place % 2
            recorder.finish(
                key, Outcome.FAILED if failed else Outcome.PASSED, text if failed else "", text, output=text
            )
        folders.append(recorder.close())
    for size in SIZES:
        async with opened(size) as (app, pilot):
            app.navigator.open_compare(*folders)
            await settle(app, pilot)
            await pilot.press("f", "a")
            for _ in range(len(all_hostile)):
                await pilot.press("n")
                shown = frame(app)
                assert not any(ord(char) < 32 and char != "\n" for char in shown)
                assert "\u202e" not in shown
            await pilot.press("v", "v")
            assert app.screen.where == "compare"


async def test_loops_are_compared_by_their_answers(opened: Any, workspace: Any, settle: Any, assert_frame: Any) -> None:
    a = answer_count_run(workspace.root / "runs", "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    b = answer_count_run(workspace.root / "runs", "0117-aidan", "sim/b", (9, 12, 3, 7, 8))
    async with opened() as (app, pilot):
        app.navigator.open_compare(a, b)
        await settle(app, pilot)
        assert where(app) == "q2"
        assert_frame(app, "compare-loops-80x24")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_questions_are_drawn_as_dots(
    size: tuple[int, int], opened: Any, workspace: Any, settle: Any, frame: Any, assert_frame: Any
) -> None:
    a = answer_count_run(workspace.root / "runs", "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    b = answer_count_run(workspace.root / "runs", "0117-aidan", "sim/b", (9, 12, 3, 7, 0))
    async with opened(size) as (app, pilot):
        app.navigator.open_compare(a, b)
        await settle(app, pilot)
        await pilot.press("i", "tab", "z")
        await settle(app, pilot)
        drawn = [line for line in frame(app).split("\n") if "What is" in line and "●" in line]
        order = [line.split("What is ")[1][0] for line in drawn]
        assert order == ["4", "2", "3", "1", "0"]
        assert_frame(app, f"compare-questions-{size[0]}x{size[1]}")


# Ways in -------------------------------------------------------------------------------------------------------------


async def test_two_marks_at_home_open_it(opened: Any, workspace: Any, settle: Any, frame: Any) -> None:
    workspace.run("2025-01-17T1320-a", passed=3, failed=1)
    workspace.run("2025-01-16T0900-b", passed=2, failed=2)
    async with opened() as (app, pilot):
        await pilot.press("tab", "m")
        await pilot.pause()
        assert "Marked as A" in app.services.messages[-1].plain
        assert " A " in frame(app)
        await pilot.press("j", "m")
        await settle(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.controller.folders[0].name == "2025-01-17T1320-a"
        await pilot.press("1")
        assert app.screen.query_one("#runs")._listing.marked == frozenset()


async def test_the_same_run_marked_twice_is_unmarked(opened: Any, workspace: Any) -> None:
    workspace.run("2025-01-17T1320-a", passed=3)
    async with opened() as (app, pilot):
        await pilot.press("tab", "m", "m")
        assert app.screen.where == "home"
        assert app.screen.query_one("#runs")._listing.marked == frozenset()


async def test_four_compares_the_newest_two_of_a_suite(opened: Any, workspace: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("4")
        assert "no two runs" in app.services.messages[-1].plain
    old, new = workspace.run("2025-01-15T1-a", passed=3), workspace.run("2025-01-17T1-c", passed=3)
    workspace.run("2025-01-16T1-b", passed=3, suite="other")
    lines = [read_run(folder) for folder in (new, workspace.run("2025-01-16T2-d", passed=1, category="why"), old)]
    assert [line.folder.path for line in newest_alike(lines, 2, 2)] == [new.path, old.path]
    assert newest_alike(lines, 3, 4) == []
    async with opened() as (app, pilot):
        await pilot.press("4")
        await settle(app, pilot)
        assert [folder.name for folder in app.screen.controller.folders] == ["2025-01-15T1-a", "2025-01-17T1-c"]


async def test_a_run_is_exported_from_home(opened: Any, workspace: Any, settle: Any) -> None:
    workspace.run("2025-01-17T1320-a", passed=3, failed=1)
    async with opened() as (app, pilot):
        await pilot.press("tab", "E", "c")
        await settle(app, pilot)
        assert (workspace.root / "2025-01-17T1320-a.csv").read_text().startswith("case,")
        assert "2025-01-17T1320-a.csv" in app.services.messages[-1].plain


# Leaderboard ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def field(workspace: Any) -> None:
    """Runs of three models on three suites."""
    root = workspace.root / "runs"
    call_run(root, "0116-0904", "gpt-w", 0)
    call_run(root, "0117-1420", "gpt-x", 1)
    answer_count_run(root, "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    answer_count_run(root, "0117-aidan", "sim/b", (9, 12, 3, 7, 8))
    workspace.run("2025-01-17T1320-a", passed=3, failed=1)
    workspace.run("2025-01-16T0900-b", model="claude-y", passed=1, failed=2, broken=1)
    workspace.run("2025-01-16T0901-c", model="stopped-z", passed=1, reason="stopped")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_all_models_are_ranked(
    size: tuple[int, int], opened: Any, field: Any, settle: Any, assert_frame: Any, frame: Any
) -> None:
    async with opened(size) as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        assert isinstance(app.screen, LeaderboardScreen)
        await see(pilot, "* incomplete")  # sizes of suites may be known after the first numbers
        assert "stopped-z" not in frame(app)
        assert_frame(app, f"leaderboard-{size[0]}x{size[1]}")


async def test_a_long_legend_is_wrapped_between_words_and_its_cut_is_marked(
    opened: Any, field: Any, settle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["graded differently; `eval-console regrade " + " ".join(f"2026-a-run-{n:03}" for n in range(6)) + "`"]
    monkeypatch.setattr(LeaderboardController, "legend", words)
    async with opened() as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        await see(pilot, "2026-a-run-005`")
        words.append(" ".join(f"more-{n:03}" for n in range(99)))
        app.screen.on_resize(None)
        await see(pilot, "…")
        last = [line for line in text_of(app).splitlines() if "more-" in line][-1]
        assert re.search(r"more-\d\d\d …$", last.rstrip())


async def test_the_leaderboard_leads_on(opened: Any, field: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        assert [board.suite for board in app.screen.controller.boards] == ["aidan", "bfcl", "small-talk"]
        await pilot.press("]", "]")
        assert app.screen.rows.cursor.split("\x1f")[1] == "small-talk"
        await pilot.press("[", "m", "j", "m")
        await settle(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert {folder.name for folder in app.screen.controller.folders} == {"0116-0904", "0117-1420"}
        await pilot.press("B", "enter")
        await settle(app, pilot)
        assert app.screen.where == "review"


@pytest.mark.slow
@pytest.mark.parametrize("size", first_size(SIZES))
async def test_every_official_column_can_be_reached_sideways(
    size: tuple[int, int], opened: Any, field: Any, settle: Any, frame: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BFCL_LEADERBOARD, "misfit", lambda categories: "", raising=False)
    async with opened(size) as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        await pilot.press("]")
        seen = frame(app)
        assert "gpt-w" in seen
        assert "relevance" in seen if size[0] > 100 else " of 36" in seen
        for _ in range(40):
            await pilot.press("l")
        await settle(app, pilot)
        shown = frame(app)
        assert "-36 of 36" in shown
        assert isinstance(app.screen, LeaderboardScreen)
        official = next(board for board in app.screen.controller.boards if "gpt-w" in {row.model for row in board.rows})
        last = columns_of(official)[-1]
        assert official.rules.headings.get(last, last.replace("_", " ")) in shown
        assert "gpt-w" in shown, "names stay"
        await pilot.press(*"hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh")
        assert "1-" in frame(app)
        assert "non live" in frame(app)


async def test_an_empty_leaderboard_says_what_to_do(opened: Any, settle: Any, frame: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        assert "No run has finished yet" in frame(app)
        await pilot.press("enter", "m", "]")
        assert app.screen.where == "board"


async def test_two_runs_without_a_common_case_show_no_numbers(opened: Any, workspace: Any, settle: Any) -> None:
    a = workspace.run("2025-01-17T1320-a", passed=3, category="what")
    b = workspace.run("2025-01-17T1321-b", passed=2, category="why")
    for size in ((80, 24), (160, 45)):
        async with opened(size) as (app, pilot):
            app.navigator.open_compare(a, b)
            await settle(app, pilot)
            shown = text_of(app)
            assert "no case is graded in both runs" in shown
            assert "$0.00" not in shown
            assert "0 lost" not in shown
            await pilot.press("n")
            assert app.services.messages[-1].plain == "Nothing is listed."
