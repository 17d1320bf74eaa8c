"""Live: what runs stays where it is, the watched conversation streams, and the same screen shows a run from disk."""

import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from support.fake_engine import FakeEngine
from support.quick_rows import first_size
from support.recorded_runs import QUESTION, Recorder, call_reply, decided_run, loop_run, plain_run, raced_run
from support.screen_text import assert_no_control_byte, assert_until, text_of, wait_until_unchanged
from textual.pilot import Pilot

from console.core.case import Key
from console.core.chat import Reply
from console.core.live import Activity, Command, Status
from console.core.outcome import Outcome
from console.core.record import Tried
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.render.rollout_rows import row_key, slot_of
from console.tui.screens.live.screen import LiveScreen
from console.tui.screens.review.screen import ReviewScreen
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript


async def watch(app: ConsoleApp, pilot: Pilot[int], folder: RunFolder) -> LiveScreen:
    app.navigator.open_live(folder)
    await assert_until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen.is_mounted)
    screen = app.screen
    assert isinstance(screen, LiveScreen)
    await assert_until(pilot, lambda: screen.feed is not None and screen.feed.is_read)
    await wait_until_unchanged(app, pilot)
    return screen


# Frames --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_loops(size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any) -> None:
    folder = loop_run(workspace.root / "runs").folder
    async with opened(size) as (app, pilot):
        await watch(app, pilot, folder)
        assert_frame(app, f"live-loops-{size[0]}x{size[1]}")


async def test_problems_take_the_place_of_failures_when_narrow(opened: Any, workspace: Any, assert_frame: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        await pilot.press("i")
        await pilot.pause()
        assert screen.query_one("#problems", RowList).has_focus
        assert_frame(app, "live-problems-80x24")
        await pilot.press("escape")
        await pilot.pause()
        assert_frame(app, "states/live-ended-80x24")


async def test_a_run_that_cannot_be_opened_says_why(opened: Any, workspace: Any, frame: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        folder.manifest_path.unlink()
        app.navigator.open_live(folder)
        await assert_until(pilot, lambda: isinstance(app.screen, LiveScreen) and bool(app.screen.problem))
        await assert_until(pilot, lambda: "run.json is missing" in " ".join(text_of(app).split()))


@pytest.mark.parametrize(("reason", "words"), [("halted", "key refused"), (None, "ended without closing")])
async def test_a_run_that_ended_early_says_why(reason: str | None, words: str, opened: Any, workspace: Any) -> None:
    recorder = plain_run(workspace.root / "runs", close=False)
    folder = recorder.close(reason, "key refused") if reason else recorder.leave()
    async with opened() as (app, pilot):
        await watch(app, pilot, folder)
        assert words in text_of(app)
        assert "r resumes it" in text_of(app)


async def test_a_run_whose_folder_is_deleted_is_not_said_to_be_safe(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs", close=False).leave()
    async with opened() as (app, pilot):
        await watch(app, pilot, folder)
        assert "nothing is lost" in text_of(app)
        shutil.rmtree(folder.path)
        await assert_until(pilot, lambda: "was deleted; what is shown exists only in memory" in text_of(app))
        assert "nothing is lost" not in text_of(app)


async def test_what_an_engine_says_of_a_deleted_run_is_shown(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        await watch(app, pilot, engine.recorder.folder)
        shutil.rmtree(engine.recorder.folder.path)
        engine.status = Status("running", 4, message="the journal was deleted: the run is paused")
        await assert_until(pilot, lambda: "the journal was deleted: the run is paused" in text_of(app))


async def test_a_damaged_journal_is_shown_with_what_is_left(opened: Any, workspace: Any, frame: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    lines = folder.journal_path.read_bytes().split(b"\n")
    lines[3] = b"{}"
    folder.journal_path.write_bytes(b"\n".join(lines))
    async with opened((160, 45)) as (app, pilot):
        await watch(app, pilot, folder)
        assert "1 unreadable line" in frame(app)


# Cursor and detail ---------------------------------------------------------------------------------------------------


async def test_the_detail_follows_the_cursor_and_enter_goes_in(opened: Any, workspace: Any, frame: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        await pilot.press("G")
        await pilot.pause()
        watched = screen.grid_actions.rollout
        assert watched is not None
        assert watched.key.case == "live_multiple_9-4-1"
        await pilot.press("enter")
        await pilot.pause()
        assert screen.query_one("#watched", Transcript).has_focus
        assert "502 Bad Gateway" in frame(app)
        await pilot.press("escape")
        assert screen.query_one("#running", RowList).has_focus


async def test_enter_on_a_failure_opens_review_on_it(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        screen.query_one("#failures", RowList).focus()
        await pilot.press("j", "j", "enter")
        await assert_until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.controller.cursor.rollout)
        rollout = cast(ReviewScreen, app.screen).controller.cursor.rollout
        assert rollout is not None
        assert rollout.key.case == "live_parallel_4-1"


def test_row_keys_come_back():
    for slot in (("a/b", 0), ("", 3), ("x", 12)):
        assert slot_of(row_key(slot)) == slot


# Live ----------------------------------------------------------------------------------------------------------------


async def test_text_streams_token_by_token(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        key = engine.recorder.start("case-1", title="weather?")
        engine.status = Status("running", 4, [Activity(key, "streaming")])
        screen = await watch(app, pilot, engine.recorder.folder)
        engine.begin(key, messages=[{"role": "user", "content": "what now?"}])
        engine.publisher.text(key, 1, "text", "one two")
        await assert_until(pilot, lambda: "  one two" in frame(app))
        assert "what now?" in frame(app)
        engine.publisher.text(key, 1, "text", " three")
        await assert_until(pilot, lambda: "  one two three" in frame(app))
        assert "streaming" in frame(app)
        engine.recorder.ask(key, "", Reply("one two three."), messages=[{"role": "user", "content": "what now?"}])
        engine.publisher.ended(key, 1)
        engine.recorder.finish(key, Outcome.FAILED, "value_error:string", "unit", messages=["no"])
        engine.status = Status("running", 4)
        await assert_until(pilot, lambda: "verdict  wrong value" in frame(app))
        await assert_until(pilot, lambda: frame(app).count("one two three") == 1)
        assert "wrong value: unit" in frame(app)
        assert screen.query_one("#failures", RowList).keys == ["0/case-1"]


async def test_what_arrives_does_not_move_the_cursor(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        keys = [engine.recorder.start(f"case-{n}") for n in range(6)]
        screen = await watch(app, pilot, engine.recorder.folder)
        running = screen.query_one("#running", RowList)
        await assert_until(pilot, lambda: len(running.keys) == 6)
        await pilot.press("j", "j")
        assert running.cursor == "0/case-2"
        for n in (0, 2, 4):
            engine.recorder.finish(keys[n], Outcome.FAILED, "value_error:string")
        for n in range(6, 9):
            engine.recorder.start(f"case-{n}")
        await assert_until(pilot, lambda: "0/case-8" in running.keys)
        assert running.cursor == "0/case-2"
        place = running.keys.index("0/case-2")
        around = running.keys[place - 1 : place + 2]
        assert around == ["0/case-1", "0/case-2", "0/case-3"], "no row that begins comes between"
        watched = screen.grid_actions.rollout
        assert watched is not None
        assert watched.key == Key("case-2")


async def test_space_pins_and_follows_and_scrolling_back_pins(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        key = engine.recorder.start("case-1")
        screen = await watch(app, pilot, engine.recorder.folder)
        transcript = screen.query_one("#watched", Transcript)
        engine.begin(key)
        engine.publisher.text(key, 1, "text", "\n".join(f"line {n}" for n in range(40)))
        await assert_until(pilot, lambda: "line 39" in frame(app))
        assert "FOLLOWING (space pins)" in frame(app)
        await pilot.press("space")
        await assert_until(pilot, lambda: "PINNED (space follows)" in frame(app))
        await pilot.press("space")
        await assert_until(pilot, lambda: "FOLLOWING (space pins)" in frame(app))
        transcript.focus()
        await pilot.press("k")
        await assert_until(pilot, lambda: "PINNED (space follows)" in frame(app))
        assert not transcript.follow
        engine.publisher.text(key, 1, "text", "\nline 40\nline 41")
        await assert_until(pilot, lambda: "frozen, +2 lines" in frame(app))
        assert "  line 41" not in frame(app)  # the row of the list goes on telling the end
        await pilot.press("space")
        await assert_until(pilot, lambda: "  line 41" in frame(app))
        assert "FOLLOWING (space pins)" in frame(app)


async def test_the_cursor_goes_with_what_is_followed_in_every_order(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        screen = await watch(app, pilot, engine.recorder.folder)
        for order in range(len(screen.controller.orders) + 1):
            first, second = (engine.recorder.start(f"case-{order}-{name}") for name in "ab")
            for key in (first, second):
                engine.begin(key)
                engine.publisher.text(key, 1, "text", f"says {key.case}")
            await assert_until(pilot, lambda key=second: screen.conversations.slot == (key.case, 0))
            assert "FOLLOWING (space pins)" in frame(app)
            engine.recorder.finish(second, Outcome.PASSED)
            await assert_until(pilot, lambda key=first: screen.conversations.slot == (key.case, 0))
            engine.recorder.finish(first, Outcome.PASSED)
            await pilot.press("o")
        await pilot.press("k")
        await assert_until(pilot, lambda: "PINNED (space follows)" in frame(app))


async def test_commands_reach_the_engine(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened((160, 45)) as (app, pilot):
        key = engine.recorder.start("case-1")
        screen = await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: screen.feed is not None and screen.feed.overview.status is not None)
        await pilot.press("p")
        await assert_until(pilot, lambda: Command("pause") in engine.heard)
        engine.status = Status("paused", 4)
        await assert_until(pilot, lambda: "paused" in frame(app) and "p resume" in frame(app))
        await pilot.press("p", "+", "+", "-", "ctrl+k")
        await assert_until(pilot, lambda: len(engine.heard) == 6)
        changes = [Command("concurrency", value=value) for value in (5, 6, 5)]
        assert engine.heard[1:] == [Command("resume"), *changes, Command("stop_case", key=key)]
        await pilot.press("ctrl+x")
        await assert_until(pilot, lambda: "finish the 1 under way" in frame(app))
        await pilot.press("escape")
        await pilot.press("ctrl+x")
        await pilot.press("s")
        await assert_until(pilot, lambda: Command("kill") in engine.heard)
        assert Command("stop") not in engine.heard


async def test_the_end_of_a_run_is_seen_and_commands_are_then_refused(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        key = engine.recorder.start("case-1")
        await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: "▶ running" in frame(app))
        engine.recorder.finish(key, Outcome.PASSED)
        await engine.end()
        await assert_until(pilot, lambda: "finished" in frame(app))
        assert "p pause" not in frame(app)
        assert "p replay" in frame(app)
        await pilot.press("+")
        await assert_until(pilot, lambda: any("This run has no engine" in text.plain for text in app.services.messages))


async def test_waits_and_tries_go_to_problems_not_to_toasts(opened: Any, workspace: Any, frame: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened((160, 45)) as (app, pilot):
        key = engine.recorder.start("case-1")
        screen = await watch(app, pilot, engine.recorder.folder)
        await pilot.press("i")
        engine.recorder.write(Tried(at=1.0, key=key, n=1, kind="rate_limit", message="slow down", wait_s=7))
        await assert_until(pilot, lambda: "rate limited, again in 7 s" in frame(app))
        assert not app.services.messages
        assert len(screen.query_one("#problems", RowList).keys) == 1


async def test_orders_change_only_when_asked(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        running = screen.query_one("#running", RowList)
        first = list(running.keys)
        assert first[0] == "0/live_simple_0-0-0"
        await pilot.press("o")
        await pilot.pause()
        assert running.keys[0] == "0/live_multiple_9-4-1"
        assert running.cursor == "0/live_simple_0-0-0"
        assert sorted(running.keys) == sorted(first)


# Untrusted text ------------------------------------------------------------------------------------------------------


def hostile_run(root: Path, texts: tuple[str, ...]) -> Recorder:
    """Every field that others write holds hostile text, ids and names too."""
    recorder = Recorder(root, cases=len(texts), suite="s\x1b[31m", name="hostile")
    for text in texts:
        key = recorder.start(f"id {text}", f"cat {text}", f"title {text}")
        recorder.write(Tried(recorder.tick(), key=key, n=1, kind=f"k {text}", message=text, partial=text, wait_s=1))
        reply = call_reply(f"f {text}", f'{{"a {text.encode("unicode_escape").decode()}": 1', reasoning=text)
        recorder.ask(key, f"{text} {QUESTION}", reply)
        recorder.ask(key, text, Reply(text * 3), n=2)
        recorder.finish(key, Outcome.FAILED, f"r {text}", f"s {text}", messages=[text], output={text: text})
    recorder.close()
    return recorder


@pytest.mark.parametrize("size", [(80, 24), pytest.param((160, 45), marks=pytest.mark.slow)])
async def test_hostile_text_is_only_text(size: tuple[int, int], opened: Any, workspace: Any, all_hostile: Any) -> None:
    folder = hostile_run(workspace.root / "runs", all_hostile).folder
    async with opened(size) as (app, pilot):
        screen = await watch(app, pilot, folder)
        await pilot.press("i", "escape")
        for _ in all_hostile:
            assert_no_control_byte(app)
            await pilot.press("j")
        assert app.screen is screen
        assert app.is_running


async def test_hostile_text_in_a_stream(opened: Any, workspace: Any, hostile_some: str) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        safe = hostile_some.encode("utf-8", "replace").decode()
        key = engine.recorder.start(f"c {safe}")
        screen = await watch(app, pilot, engine.recorder.folder)
        engine.begin(key)
        for character in safe:
            engine.publisher.text(key, 1, "text", character)
        engine.publisher.text(key, 1, "tool", safe)
        engine.publisher.text(key, 1, "text", "the end")
        feed = screen.feed
        assert feed is not None
        await assert_until(pilot, lambda: any("the end" in it.text for it in feed.conversation(key).tail()))
        assert_no_control_byte(app)


@pytest.mark.slow
async def test_ten_megabytes_of_text_open_and_scroll(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    key = recorder.start("huge")
    recorder.ask(key, "x", Reply("word \x1b[2J" * 1_000_000))
    recorder.finish(key, Outcome.FAILED, "ast_decoder:decoder_failed", messages=["x" * 1_000_000])
    folder = recorder.close()
    async with opened() as (app, pilot):
        await watch(app, pilot, folder)
        assert_no_control_byte(app)
        await pilot.press("enter", "g", "pagedown", "G")
        assert_no_control_byte(app)


@pytest.mark.parametrize("size", first_size([(80, 24), (130, 36), (160, 45)]))
async def test_the_looks_of_a_run_that_they_may_end(
    size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any
) -> None:
    folder = decided_run(workspace.root / "runs").folder
    async with opened(size) as (app, pilot):
        screen = await watch(app, pilot, folder)
        assert screen.query_one("#decision").display
        assert_frame(app, f"live-decided-{size[0]}x{size[1]}")


@pytest.mark.parametrize("size", first_size([(80, 24), (130, 36), (160, 45)]))
async def test_the_standings_of_a_race(size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any) -> None:
    folder = raced_run(workspace.root / "runs").folder
    async with opened(size) as (app, pilot):
        screen = await watch(app, pilot, folder)
        assert_frame(app, f"live-race-{size[0]}x{size[1]}")
        if size[1] == 24:
            screen.add_class("-several-runs")  # as the runs of a race are listed while they play
            await pilot.pause()
            assert screen.query_one("#decision").region.height == 1
