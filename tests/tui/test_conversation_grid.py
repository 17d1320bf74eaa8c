"""The grid, the list of runs and the replay: more on one screen, and the same screen for what is over."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.quick_rows import first_size
from support.recorded_runs import Recorder, plain_run, replayable_run
from support.screen_text import assert_no_control_byte, assert_until, see, text_of, tile_cases, wait_until_unchanged
from textual.app import App, ComposeResult
from textual.content import Content
from tui.test_live_screen import watch

from console.core.case import Key
from console.core.chat import Reply
from console.core.live import Activity, EndpointState, Status
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.tui import themes
from console.tui.screens.live.controller import TileState
from console.tui.screens.live.conversation_grid import ConversationTile, shapes_for
from console.tui.widgets.row_list import RowList

SIZES = [(80, 24), (160, 45)]


@asynccontextmanager
async def talking(root: Path, count: int) -> AsyncIterator[tuple[FakeEngine, list[Key]]]:
    """An engine with conversations that have each said a word."""
    async with FakeEngine(root, cases=count) as engine:
        keys = [engine.recorder.start(f"case-{n}", title="weather?") for n in range(count)]
        engine.status = Status("running", count, [Activity(key, "streaming") for key in keys])
        for n, key in enumerate(keys):
            engine.begin(key, messages=[{"role": "user", "content": f"question {n}"}])
            engine.publisher.text(key, 1, "text", f"word {n}")
        yield engine, keys


# The grid ------------------------------------------------------------------------------------------------------------


def test_as_many_tiles_as_the_terminal_has_room_for() -> None:
    narrow = [shape for shape, _ in shapes_for(80, 20, beside=(80, 7))]
    wide = shapes_for(160, 41, beside=(75, 41))
    assert narrow == [(1, 1), (1, 2), (2, 2)]
    assert wide == [((1, 1), True), ((1, 2), True), ((2, 2), False), ((3, 3), False)]
    assert [shape for shape, _ in shapes_for(60, 12, beside=(60, 4))] == [(1, 1)]


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_the_grid_shows_several_conversations_and_w_goes_round(
    size: tuple[int, int], opened: Any, workspace: Any
) -> None:
    async with talking(workspace.root / "runs", 12) as (engine, keys), opened(size) as (app, pilot):
        screen = await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-11"])
        for _ in range(2):
            await pilot.press("w")
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-11", "case-0", "case-1", "case-2"])
        await assert_until(pilot, lambda: all(f"word {n}" in text_of(app) for n in (11, 0, 1, 2)))
        engine.publisher.text(keys[2], 1, "text", " and more")
        await see(pilot, "word 2 and more")
        if size == (160, 45):
            await see(pilot, "word 7", "w")
        await see(pilot, lambda: len(screen.grid.tiles) == 1 and screen.conversations.has_focus, "escape")


async def test_what_ends_gives_its_tile_to_the_next_but_a_pinned_one_stays(opened: Any, workspace: Any) -> None:
    async with talking(workspace.root / "runs", 3) as (engine, keys), opened((160, 45)) as (app, pilot):
        screen = await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-2"])
        await see(pilot, lambda: tile_cases(screen) == ["case-2", "case-1"], "m", "w")
        assert "PINNED (m unpins)" in text_of(app)
        for key in keys[1:]:
            engine.recorder.finish(key, Outcome.PASSED)
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-2", "case-0"])
        await see(pilot, lambda: screen.conversations.cursor is not None, "j")
        assert tile_cases(screen)[0] == "case-2"


async def test_keys_act_on_the_tile_that_has_the_focus(opened: Any, workspace: Any) -> None:
    async with talking(workspace.root / "runs", 4) as (engine, keys), opened((160, 45)) as (app, pilot):
        screen = await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-3"])
        await see(pilot, lambda: tile_cases(screen) == ["case-3", "case-0", "case-1", "case-2"], "w", "w")
        screen.grid.tiles[2].transcript.focus()
        await see(pilot, lambda: bool(engine.heard), "ctrl+k")
        assert engine.heard[0].key == keys[1]
        await pilot.press("z")
        await wait_until_unchanged(app, pilot)
        assert "word 1" in text_of(app)
        assert "word 2" not in text_of(app)


# Several runs --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def three_runs(root: Path) -> AsyncIterator[list[FakeEngine]]:
    """Three runs that are live; the second waits for its provider."""
    engines: list[FakeEngine] = []
    for n, name in enumerate(("a-run", "b-run", "c-run")):
        engine = FakeEngine(root, cases=20, name=name)
        why = "rate limited until 12:03:04" if n == 1 else ""
        engine.status = Status("running", 4, [], [EndpointState("m", 4 - n, 4, 2 * n, None, why)])
        await engine.__aenter__()
        for case in range(4):
            key = engine.recorder.start(f"case-{n}-{case}")
            engine.recorder.finish(key, Outcome.PASSED if case % 2 else Outcome.FAILED, "value_error:string", "unit")
        engine.recorder.start(f"case-{n}-open")
        engines.append(engine)
    yield engines
    for engine in engines:
        await engine.__aexit__()


async def test_runs_beside_are_listed_with_what_holds_them_up(opened: Any, workspace: Any) -> None:
    async with three_runs(workspace.root / "runs") as engines, opened((160, 45)) as (app, pilot):
        await watch(app, pilot, engines[0].recorder.folder)
        app.services.workspace.read_runs()
        await see(pilot, "3 runs live")
        beside = app.screen.query_one("#beside", RowList)
        assert len(beside.keys) == 3
        assert "4/20" in text_of(app)
        assert "–" in text_of(app)
        await assert_until(pilot, lambda: len(engines[1].publisher._watchers) == 1)
        await assert_until(pilot, lambda: not engines[1].publisher._readers)
        app.services.workspace.read_runs()
        await see(pilot, "rate limit")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_brackets_and_enter_go_to_another_run(size: tuple[int, int], opened: Any, workspace: Any) -> None:
    async with three_runs(workspace.root / "runs") as engines, opened(size) as (app, pilot):
        await watch(app, pilot, engines[0].recorder.folder)
        app.services.workspace.read_runs()
        await assert_until(pilot, lambda: app.screen.has_class("-several-runs"))
        await see(pilot, lambda: app.screen.run_folder.name == "b-run" and "case-1-open" in text_of(app), "]")
        await assert_until(pilot, lambda: app.screen.has_class("-several-runs"))
        beside = app.screen.query_one("#beside", RowList)
        beside.focus()
        await see(pilot, lambda: app.screen.run_folder.name == "c-run" and "case-2-open" in text_of(app), "G", "enter")


@asynccontextmanager
async def two_talking(root: Path) -> AsyncIterator[list[tuple[FakeEngine, list[Key]]]]:
    """Two runs of the same cases by different models, with conversations that have each said a word."""
    talking_runs: list[tuple[FakeEngine, list[Key]]] = []
    for name in ("hasty", "careful"):
        engine = FakeEngine(root, cases=9, name=f"run-{name}", model=ModelFacts(name))
        await engine.__aenter__()
        keys = [engine.recorder.start(f"case-{n}", title="weather?") for n in range(3)]
        engine.status = Status("running", 3, [Activity(key, "streaming") for key in keys])
        for n, key in enumerate(keys):
            engine.begin(key, messages=[{"role": "user", "content": f"question {n}"}])
            engine.publisher.text(key, 1, "text", f"{name} says {n}")
        talking_runs.append((engine, keys))
    yield talking_runs
    for engine, _ in talking_runs:
        await engine.__aexit__()


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_the_wall_shows_conversations_of_all_runs(size: tuple[int, int], opened: Any, workspace: Any) -> None:
    async with two_talking(workspace.root / "runs") as runs, opened(size) as (app, pilot):
        (hasty, _), (careful, careful_keys) = runs
        screen = await watch(app, pilot, hasty.recorder.folder)
        app.services.workspace.read_runs()
        await assert_until(pilot, lambda: screen.has_class("-several-runs"))
        await assert_until(pilot, lambda: tile_cases(screen) == ["case-2"] and "careful says" not in text_of(app))
        await see(pilot, lambda: all(f"careful says {n}" in text_of(app) for n in (0, 1)), "w", "w")
        assert "hasty says 2" in text_of(app), "the tile that follows is of the watched run"
        assert re.search(r"case-\d  hasty", text_of(app))
        assert "case-0  careful" in text_of(app), "titles name the model after the case"
        careful.publisher.text(careful_keys[0], 1, "text", " and more")
        await see(pilot, "careful says 0 and more")
        place = tile_cases(screen).index("case-0", 1)
        tile = next(tile for tile in screen.controller.watched.tiles if tile.beside is not None)
        screen.grid.tiles[screen.controller.watched.tiles.index(tile)].transcript.focus()
        assert place
        await see(pilot, lambda: bool(careful.heard), "ctrl+k")
        assert tile.slot is not None
        assert str(careful.heard[0].key) == tile.slot[0]
        assert not hasty.heard, "a key acts on the run of its tile"
        await careful.end()
        app.services.workspace.read_runs()
        await assert_until(pilot, lambda: "careful says" not in text_of(app))
        await see(pilot, lambda: not screen.controller.beside, "escape")


async def test_coming_back_to_a_run_keeps_the_place(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    other = plain_run(workspace.root / "runs", name="other").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        await see(pilot, lambda: screen.conversations.cursor == "0/live_simple_2-0-0", "o", "j", "j")
        kept = screen.conversations.cursor
        await watch(app, pilot, other)
        back = await watch(app, pilot, folder)
        await assert_until(
            pilot, lambda: back.conversations.cursor == kept and back.controller.order is screen.controller.order
        )
        watched = back.grid_actions.rollout
        assert watched is not None
        assert str(watched.key.case) in (kept or "")


async def test_a_run_alone_has_no_list_of_runs(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        await watch(app, pilot, folder)
        assert not app.screen.has_class("-several-runs")
        await see(pilot, lambda: any("No other run is live" in text.plain for text in app.services.messages), "]")


# Replay --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_a_finished_run_is_replayed_with_a_clock(size: tuple[int, int], opened: Any, workspace: Any) -> None:
    folder = replayable_run(workspace.root / "runs").folder
    async with opened(size) as (app, pilot):
        screen = await watch(app, pilot, folder)
        assert "p replay" in text_of(app)
        await pilot.press("p", "p")
        await assert_until(
            pilot, lambda: screen.replay_controls.replay is not None and screen.replay_controls.replay.is_read
        )
        replay = screen.replay_controls.replay
        assert replay is not None
        await see(pilot, "REPLAY  ■ paused ×1")
        replay.seek(16.0)
        screen.pump.wake()
        await assert_until(pilot, lambda: replay.time_s == 16.0 and "case-1" in text_of(app))
        await wait_until_unchanged(app, pilot)
        assert "case-2" not in text_of(app)
        assert "one two three" in text_of(app)
        assert "16 s of 29 s" in text_of(app)
        await see(pilot, lambda: "at the end, p restarts" in text_of(app) and "case-2" in text_of(app), "}")
        await see(pilot, lambda: replay.time_s < replay.timeline.length_s, "<")
        await see(pilot, lambda: replay.time_s == 0.0 and "case-1" not in text_of(app), "{")
        await see(pilot, lambda: "max" in text_of(app) and replay.is_at_end, "+", "+", "+", "p")
        await see(pilot, lambda: screen.replay_controls.replay is None and "REPLAY" not in text_of(app), "escape")
        assert "case-2" in text_of(app)


async def test_a_replay_has_no_engine_to_command(opened: Any, workspace: Any) -> None:
    folder = replayable_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        screen = await watch(app, pilot, folder)
        await pilot.press("p")
        await assert_until(
            pilot, lambda: screen.replay_controls.replay is not None and screen.replay_controls.replay.is_read
        )
        await pilot.press("ctrl+x")
        await assert_until(pilot, lambda: any("This run has no engine" in text.plain for text in app.services.messages))


@pytest.mark.slow
async def test_hostile_text_in_a_replay(opened: Any, workspace: Any, all_hostile: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=len(all_hostile))
    for text in all_hostile:
        key = recorder.start(f"id {text}", title=text)
        recorder.tick(4.0)
        recorder.ask(key, text, Reply(text * 9, latency_s=4.0, reasoning=text))
        recorder.finish(key, Outcome.FAILED, f"r {text}", messages=[text])
    async with opened((120, 40)) as (app, pilot):
        screen = await watch(app, pilot, recorder.close())
        await pilot.press("p", "p")
        await assert_until(
            pilot, lambda: screen.replay_controls.replay is not None and screen.replay_controls.replay.is_read
        )
        replay = screen.replay_controls.replay
        assert replay is not None
        for part in range(1, 6):
            replay.seek(replay.timeline.length_s * part / 6)
            screen.pump.wake()
            await wait_until_unchanged(app, pilot)
            assert_no_control_byte(app)


async def test_a_narrow_tile_shows_its_case_whole_and_its_run_as_far_as_there_is_room() -> None:
    tile = ConversationTile(0)
    name, run = Content("live_simple_119  streaming"), Content("provider/a-model-with-a-long-name")
    state = TileState(None, "FOLLOWING (space pins)", is_pinned=False)

    class OneTileApp(App[None]):
        def compose(self) -> ComposeResult:
            yield tile

    app = OneTileApp()
    app.register_theme(next(theme for theme in themes.themes() if theme.name == themes.DARK))
    app.theme = themes.DARK
    async with app.run_test(size=(40, 7)) as pilot:
        for shown_run, left in ((run, "live_simple_119  provide… ─"), (Content(""), "live_simple_119  streaming ")):
            tile.draw_title(name, shown_run, state, compact=True)
            await pilot.pause()
            assert text_of(app).splitlines()[0].startswith(f"─ {left}")
        tile.draw_title(Content("multi_turn_miss_param_119"), run, state, compact=True)
        await pilot.pause()
        assert "multi_turn_miss_param_119" in text_of(app)
