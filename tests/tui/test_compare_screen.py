"""Compare and the leaderboard: frames at two sizes, every key, hostile text, and states with nothing to show."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tui.recorded import QUESTION, Recorder, call_reply

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.core.run import ModelFacts
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.data.catalog_items import read_run
from console.tui.navigation import newest_two
from console.tui.screens.compare.screen import CompareScreen
from console.tui.screens.leaderboard.screen import LeaderboardScreen

SIZES = [(80, 24), (160, 45)]
WANTED = {"location": ("'Chicago, IL'", "'Chicago'"), "unit": ("'fahrenheit'",), "days": ()}
CASES = (
    ("live_multiple_131-52", "p", "u"),
    ("live_multiple_140-58", "p", "u"),
    ("live_simple_14-3-9", "u", "p"),
    ("live_simple_77-40-0", "p", "l"),
    ("live_simple_80-42-0", "u", "u"),
    ("live_simple_81-43-0", "u", "l"),
    ("live_simple_90-45-0", "p", "p"),
    ("live_simple_91-46-0", "p", "p"),
    ("live_simple_92-47-0", "p", "b"),
)
"""Case id and how A and B ended: passed, wrong unit, wrong lang, broken."""
ANSWERS = {
    "p": {"location": "'Chicago, IL'", "unit": "'fahrenheit'"},
    "u": {"location": "'Chicago, IL'", "unit": "'imperial'"},
    "l": {"location": "'Chicago'", "unit": "'fahrenheit'", "lang": "'en'"},
}


class CallSuite:
    """Lays recorded arguments beside what was wanted."""

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        rows = []
        for name in dict.fromkeys([*WANTED, *output]):
            allowed, given = WANTED.get(name, ()), output.get(name)
            mark = Mark.OMITTED if given is None else Mark.EXTRA if name not in WANTED else Mark.SAME
            mark = Mark.DIFFERS if given and allowed and given not in allowed else mark
            rows.append(Row(mark, name, allowed, given, decisive=mark is Mark.DIFFERS, optional=not allowed))
        return Comparison("", (Pair(Mark.SAME, "get_current_weather", "get_current_weather", tuple(rows)),))


def play(root: Path, name: str, model: str, side: int, **more: Any) -> RunFolder:
    recorder = Recorder(root, cases=len(CASES), name=name, suite="bfcl", model=ModelFacts(model, **more))
    for id, *letters in CASES:
        letter = letters[side]
        key = recorder.start(id, id.rsplit("_", 1)[0], QUESTION)
        arguments = ANSWERS.get(letter, {})
        recorder.ask(
            key,
            QUESTION,
            call_reply("get_current_weather", json.dumps({it: text.strip("'") for it, text in arguments.items()})),
        )
        outcome, reason, subject = {
            "p": (Outcome.PASSED, "", ""),
            "u": (Outcome.FAILED, "value_error:string", "unit"),
            "l": (Outcome.FAILED, "simple_function_checker:unexpected_param", "lang"),
            "b": (Outcome.BROKEN, "server", ""),
        }[letter]
        recorder.finish(key, outcome, reason, subject, output=arguments or None, seconds=1.9 + side, cost_usd=0.004)
    return recorder.close()


@pytest.fixture
def two(desk: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[RunFolder, RunFolder]:
    """Two runs of the same cases."""
    monkeypatch.setattr(CompareScreen, "find_suite", lambda self, manifest: CallSuite())
    root = desk.root / "runs"
    return play(root, "0116-0904", "gpt-w", 0), play(root, "0117-1420", "gpt-x", 1)


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
    return screen.current.slot[0] if screen.current else ""


# Compare -------------------------------------------------------------------------------------------------------------


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
            assert [pair.slot[0] for pair in app.screen.changes.pairs.values()] == ids
        await pilot.press("f", "a")
        await pilot.pause()
        assert len(app.screen.changes.pairs) == len(CASES)
        await pilot.press("slash", *"lang", "enter")
        await pilot.pause()
        assert [pair.slot[0] for pair in app.screen.changes.pairs.values()] == [
            "live_simple_77-40-0", "live_simple_81-43-0",
        ]  # fmt: skip
        await pilot.press("F")
        await pilot.pause()
        assert len(app.screen.changes.pairs) == 4


async def test_swapping_keeps_the_case(compared: Any, frame: Any) -> None:
    async with compared() as (app, pilot):
        await pilot.press("n", "n")
        assert where(app) == "live_simple_77-40-0"
        before = app.screen.pair.comparison.counts
        await pilot.press("b")
        await pilot.pause()
        after = app.screen.pair.comparison.counts
        assert (after.lost, after.gained) == (before.gained, before.lost)
        assert where(app) == "live_simple_77-40-0"
        assert "A gpt-x" in frame(app)


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


async def test_exports_and_copies(compared: Any, desk: Any) -> None:
    async with compared() as (app, pilot):
        for letter, extension, words in (("m", "md", "### A gpt-w"), ("c", "csv", "case,rollout"), ("j", "json", "{")):
            await pilot.press("E", letter)
            await pilot.pause()
            (path,) = desk.root.glob(f"compare-*.{extension}")
            assert path.read_text().startswith(words)
            assert path.name in app.services.messages[-1].plain
        await pilot.press("y", "t")
        await pilot.pause()
        assert app.clipboard.startswith("### A gpt-w")
        await pilot.press("y", "c")
        await pilot.pause()
        assert app.clipboard == "eval-console compare 0116-0904 0117-1420"


async def test_another_run_can_be_picked(compared: Any, desk: Any, settle: Any, frame: Any) -> None:
    play(desk.root / "runs", "0118-0001", "gpt-y", 0)
    async with compared() as (app, pilot):
        await pilot.press("p")
        await pilot.pause()
        assert "Compare 0116-0904 with" in frame(app)
        await pilot.press("j", "enter")
        await settle(app, pilot)
        assert {folder.name for folder in app.screen.pair.folders} <= {"0116-0904", "0117-1420", "0118-0001"}
        assert app.screen.where == "compare"


async def test_runs_without_a_case_in_common(opened: Any, desk: Any, settle: Any, frame: Any) -> None:
    a, b = desk.run("2025-01-17T1320-a", passed=2), desk.run("2025-01-17T1321-b", passed=2, category="why")
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


async def test_hostile_text_is_only_shown(opened: Any, desk: Any, settle: Any, frame: Any, all_hostile: Any) -> None:
    folders = []
    for side in (0, 1):
        recorder = Recorder(desk.root / "runs", cases=2, name=f"011{side}", suite="x", model=ModelFacts("[/x]\x1b[2J"))
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


def loops(root: Path, name: str, model: str, counts: tuple[int, ...]) -> RunFolder:
    recorder = Recorder(root, cases=len(counts), name=name, suite="aidan", model=ModelFacts(model, simulated=True))
    for place, count in enumerate(counts):
        key = recorder.start(f"q{place}", "what", f"What is {place}?")
        verdict = Verdict(Outcome.PASSED, "low_embedding_novelty", scores={"aidanbench_score": float(count)})
        from console.core.record import Finished

        recorder.write(Finished(at=recorder.tick(), key=key, verdict=verdict, output=[], seconds=2.0, cost_usd=0.0))
    return recorder.close()


async def test_loops_are_compared_by_their_answers(opened: Any, desk: Any, settle: Any, assert_frame: Any) -> None:
    a = loops(desk.root / "runs", "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    b = loops(desk.root / "runs", "0117-aidan", "sim/b", (9, 12, 3, 7, 8))
    async with opened() as (app, pilot):
        app.navigator.open_compare(a, b)
        await settle(app, pilot)
        assert where(app) == "q2"
        assert_frame(app, "compare-loops-80x24")


@pytest.mark.parametrize("size", SIZES)
async def test_questions_are_drawn_as_dots(
    size: tuple[int, int], opened: Any, desk: Any, settle: Any, frame: Any, assert_frame: Any
) -> None:
    a = loops(desk.root / "runs", "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    b = loops(desk.root / "runs", "0117-aidan", "sim/b", (9, 12, 3, 7, 0))
    async with opened(size) as (app, pilot):
        app.navigator.open_compare(a, b)
        await settle(app, pilot)
        await pilot.press("s", "tab", "z")
        await settle(app, pilot)
        drawn = [line for line in frame(app).split("\n") if "What is" in line and "●" in line]
        order = [line.split("What is ")[1][0] for line in drawn]
        assert order == ["4", "2", "3", "1", "0"]
        assert_frame(app, f"compare-questions-{size[0]}x{size[1]}")


# Ways in -------------------------------------------------------------------------------------------------------------


async def test_two_marks_at_home_open_it(opened: Any, desk: Any, settle: Any, frame: Any) -> None:
    desk.run("2025-01-17T1320-a", passed=3, failed=1)
    desk.run("2025-01-16T0900-b", passed=2, failed=2)
    async with opened() as (app, pilot):
        await pilot.press("tab", "m")
        await pilot.pause()
        assert "Marked as A" in app.services.messages[-1].plain
        assert " A " in frame(app)
        await pilot.press("j", "m")
        await settle(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.pair.folders[0].name == "2025-01-17T1320-a"
        await pilot.press("1")
        assert app.screen.query_one("#runs")._marked == []


async def test_the_same_run_marked_twice_is_unmarked(opened: Any, desk: Any) -> None:
    desk.run("2025-01-17T1320-a", passed=3)
    async with opened() as (app, pilot):
        await pilot.press("tab", "m", "m")
        assert app.screen.where == "home"
        assert app.screen.query_one("#runs")._marked == []


async def test_four_compares_the_newest_two_of_a_suite(opened: Any, desk: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("4")
        assert "no two runs" in app.services.messages[-1].plain
    old, new = desk.run("2025-01-15T1-a", passed=3), desk.run("2025-01-17T1-c", passed=3)
    desk.run("2025-01-16T1-b", passed=3, suite="other")
    lines = [read_run(folder) for folder in (new, desk.run("2025-01-16T2-d", passed=1, category="why"), old)]
    found = newest_two(lines)
    assert found is not None
    assert [line.folder.path for line in found] == [new.path, old.path]
    async with opened() as (app, pilot):
        await pilot.press("4")
        await settle(app, pilot)
        assert [folder.name for folder in app.screen.pair.folders] == ["2025-01-15T1-a", "2025-01-17T1-c"]


async def test_a_run_is_exported_from_home(opened: Any, desk: Any, settle: Any) -> None:
    desk.run("2025-01-17T1320-a", passed=3, failed=1)
    async with opened() as (app, pilot):
        await pilot.press("tab", "E", "c")
        await settle(app, pilot)
        assert (desk.root / "2025-01-17T1320-a.csv").read_text().startswith("case,")
        assert "2025-01-17T1320-a.csv" in app.services.messages[-1].plain


# Leaderboard ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def field(desk: Any) -> None:
    """Runs of three models on three suites."""
    root = desk.root / "runs"
    play(root, "0116-0904", "gpt-w", 0)
    play(root, "0117-1420", "gpt-x", 1)
    loops(root, "0116-aidan", "sim/a", (5, 9, 4, 7, 3))
    loops(root, "0117-aidan", "sim/b", (9, 12, 3, 7, 8))
    desk.run("2025-01-17T1320-a", passed=3, failed=1)
    desk.run("2025-01-16T0900-b", model="claude-y", passed=1, failed=2, broken=1)
    desk.run("2025-01-16T0901-c", model="stopped-z", passed=1, reason="stopped")


@pytest.mark.parametrize("size", SIZES)
async def test_all_models_are_ranked(
    size: tuple[int, int], opened: Any, field: Any, settle: Any, assert_frame: Any, frame: Any
) -> None:
    async with opened(size) as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        assert isinstance(app.screen, LeaderboardScreen)
        assert "stopped-z" not in frame(app)
        assert_frame(app, f"leaderboard-{size[0]}x{size[1]}")


async def test_the_leaderboard_leads_on(opened: Any, field: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        assert [board.suite for board in app.screen.boards] == ["aidan", "bfcl", "small-talk"]
        await pilot.press("]", "]")
        assert app.screen.rows.cursor.split("\x1f")[1] == "small-talk"
        await pilot.press("[", "m", "j", "m")
        await settle(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert {folder.name for folder in app.screen.pair.folders} == {"0116-0904", "0117-1420"}
        await pilot.press("B", "enter")
        await settle(app, pilot)
        assert app.screen.where == "review"


@pytest.mark.parametrize("size", SIZES)
async def test_every_official_column_can_be_reached_sideways(
    size: tuple[int, int], opened: Any, field: Any, settle: Any, frame: Any
) -> None:
    async with opened(size) as (app, pilot):
        await pilot.press("B")
        await settle(app, pilot)
        await pilot.press("]")
        seen = frame(app)
        assert "gpt-w" in seen
        assert "relevance" in seen if size[0] > 100 else "1-3 of 36" in seen
        for _ in range(40):
            await pilot.press("l")
        await settle(app, pilot)
        shown = frame(app)
        assert "-36 of 36" in shown
        assert "latency 95 % s" in shown
        assert ".067* ±.025" in shown, "name and ranking number stay"
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
