"""Panes of Live, each mounted alone: they draw what they are given and post what the reader did."""

from types import SimpleNamespace
from typing import Any, cast

from support.pane_app import ThemedApp
from support.recorded_runs import plain_run
from support.screen_text import text_of
from textual.widget import Widget

from console.core.case import Case, Key
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started, Tried
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.tui.data.runs import RunLine, read_run
from console.tui.screens.live.controller import TileState, WatchedRun
from console.tui.screens.live.conversation_grid import ConversationGrid, TileContent
from console.tui.screens.live.lists import FailureList, LiveRunsPanel, ProblemList
from console.tui.screens.live.standard_view import STANDARD


class PaneApp(ThemedApp):
    """Keeps the runs that are chosen."""

    def __init__(self, *widgets: Widget) -> None:
        super().__init__(*widgets)
        self.chosen: list[RunLine] = []

    def on_live_runs_panel_run_chosen(self, event: LiveRunsPanel.RunChosen) -> None:
        self.chosen.append(event.line)


def failed_overview(*ids: str) -> Overview:
    overview = Overview()
    for number, id in enumerate(ids):
        key = Key(id)
        overview.apply(Started(at=1.0 + number, key=key, case=Case(id, "", {})))
        overview.apply(Tried(at=1.5 + number, key=key, n=1, kind="rate_limit", message="slow down", wait_s=7))
        verdict = Verdict(Outcome.FAILED, "value_error:string", "unit")
        overview.apply(Finished(at=2.0 + number, key=key, verdict=verdict))
    return overview


async def test_failures_are_listed_with_the_latest_first() -> None:
    failures = FailureList()
    async with PaneApp(failures.pane_title, failures).run_test(size=(80, 24)) as pilot:
        overview = failed_overview("first", "second")
        failures.show_failures(overview, is_live=True)
        failures.draw_title(overview)
        await pilot.pause()
        assert list(failures.keys) == ["0/second", "0/first"]
        text = text_of(pilot.app)
        assert "Failures  2 failed, latest first" in text
        assert "wrong value" in text


async def test_problems_keep_their_numbers_while_new_ones_come() -> None:
    problems = ProblemList()
    async with PaneApp(problems).run_test(size=(80, 24)) as pilot:
        problems.show_problems(failed_overview("first"))
        before = list(problems.keys)
        problems.show_problems(failed_overview("first", "second"))
        await pilot.pause()
        assert list(problems.keys)[-len(before) :] == before
        assert "rate limited, again in 7 s" in text_of(pilot.app)


async def test_the_grid_draws_what_its_tiles_are_given_and_says_when_that_is_new() -> None:
    grid = ConversationGrid(STANDARD)
    overview = failed_overview("first", "second")
    here, beside = (cast("WatchedRun", SimpleNamespace()) for _ in range(2))
    opened: list[tuple[WatchedRun, Key]] = []

    def open_conversation(run: WatchedRun, key: Key) -> Conversation:
        opened.append((run, key))
        return Conversation(key)

    async with PaneApp(grid).run_test(size=(120, 40)) as pilot:
        await grid.lay_out((2, 1))
        first = overview.rollouts["first", 0]
        contents = [TileContent(first, here, STANDARD), None]
        assert grid.draw(contents, open_conversation=open_conversation)
        assert not grid.draw(contents, open_conversation=open_conversation)
        grid.draw_titles([TileState(first, "following", False), TileState(None, "", False)], {})
        await pilot.pause()
        assert opened == [(here, Key("first"))]
        assert grid.draw([TileContent(first, beside, STANDARD), None], open_conversation=open_conversation)
        assert opened[1:] == [(beside, Key("first"))], "the same case of another run is another conversation"
        assert grid.place_of(grid.tiles[1].transcript) == 1
        assert "first" in text_of(pilot.app)
        assert "following" in text_of(pilot.app)


async def test_the_run_under_the_cursor_is_posted_when_it_is_chosen(tmp_path: Any) -> None:
    folders = [plain_run(tmp_path, name=name).folder for name in ("a-run", "b-run")]
    lines = [read_run(folder) for folder in folders]
    panel = LiveRunsPanel()
    app = PaneApp(panel)
    async with app.run_test(size=(120, 24)) as pilot:
        panel.show_runs(lines, {}, watched=folders[1].path)
        assert panel.cursor == str(folders[1].path)
        assert "b-run" in panel.keys[0], "what has ended stands last"
        panel.focus()
        await pilot.press("j", "enter")
        await pilot.pause()
        assert [line.name for line in app.chosen] == ["a-run"]
        panel.toggle_ended()
        await pilot.pause()
        assert "1 ended (E shows them)" in text_of(app)
