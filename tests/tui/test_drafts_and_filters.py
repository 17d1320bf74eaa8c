"""A form that was not started is offered again, a filter in force is in sight, and toasts cover no detail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.recorded_runs import plain_run
from support.screen_text import assert_until, settle, text_of
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from console.config.paths import WorkspacePaths
from console.core.run import ModelFacts
from console.tui.app import ConsoleApp
from console.tui.data.draft import Draft, draft_place, keep_draft, kept_draft
from console.tui.data.ui_state import UiState


@asynccontextmanager
async def started(workspace: Any, state: Path) -> AsyncIterator[tuple[Any, Pilot[int]]]:
    """Start the app with what it remembers in a file."""
    app = ConsoleApp(workspace.paths, ui_state=UiState(state))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        yield app, pilot


async def test_a_form_that_was_left_is_offered_again_and_can_be_emptied(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        await settle(app, pilot)
        before = app.screen.controller.form.draft
        assert before.models
        assert before.suites
        await pilot.press("escape")
        await settle(app, pilot)
        assert app.screen.where == "home"
        await pilot.press("L")
        await settle(app, pilot)
        assert app.screen.controller.form.draft == before
        assert "Draft restored" in app.services.messages[-1].plain
        await pilot.press("ctrl+l")
        await settle(app, pilot)
        assert not app.screen.controller.form.models
        await pilot.press("escape", "L")
        await settle(app, pilot)
        assert not app.screen.controller.form.models


async def test_a_draft_is_offered_again_after_a_restart(workspace: Any, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    async with started(workspace, path) as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        await settle(app, pilot)
        before = app.screen.controller.form.draft
        assert before.models
        await pilot.press("ctrl+q")
    async with started(workspace, path) as (app, pilot):
        await pilot.press("L")
        await settle(app, pilot)
        assert app.screen.controller.form.draft == before
        assert "Draft restored" in app.services.messages[-1].plain
        await pilot.press("ctrl+l", "escape")
        await settle(app, pilot)
    async with started(workspace, path) as (app, pilot):
        assert app.navigator.draft is None


async def test_what_is_not_there_any_more_is_dropped_from_a_draft(workspace: Any, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    keep_draft(
        Draft(("gone", "sim/hasty"), {"no-suite": frozenset({"x"})}, {"cases": "3"}),
        UiState(path),
        draft_place(workspace.paths),
    )
    async with started(workspace, path) as (app, pilot):
        await pilot.press("L")
        await settle(app, pilot)
        form = app.screen.controller.form
        assert (form.models, form.suites, form.texts) == (["sim/hasty"], {}, {"cases": "3"})


def test_a_draft_belongs_to_its_folders(workspace: Any, tmp_path: Path) -> None:
    state, draft = UiState(), Draft(("m",), {}, {"max_cost": "40"})
    keep_draft(draft, state, here := draft_place(workspace.paths))
    there = draft_place(WorkspacePaths(runs=tmp_path / "other", data=workspace.paths.data))
    assert (kept_draft(state, here), kept_draft(state, there)) == (draft, None)


def test_a_draft_that_holds_a_key_never_reaches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_API_KEY", "harbour-lantern-seventeen")
    for text in ("harbour-lantern-seventeen", "sk-proj-0123456789abcdefghijklmnop"):
        path = tmp_path / "app.json"
        state = UiState(path)
        keep_draft(Draft(("m",), {}, {"name": "mine"}), state, "here")
        assert kept_draft(UiState(path), "here") is not None
        keep_draft(Draft(("m",), {}, {"name": text}), state, "here")
        assert text not in path.read_text()
        assert kept_draft(UiState(path), "here") is None


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", '{"models": [1]}', '{"suites": {"a": 1}}'])
def test_a_damaged_draft_is_as_good_as_none(text: str) -> None:
    state = UiState()
    state.keep("draft", text)
    assert kept_draft(state, "") is None


async def test_what_was_opened_with_a_model_and_left_as_it_was_is_no_draft(opened: Any) -> None:
    async with opened() as (app, pilot):
        app.navigator.open_form(model="gpt-x")
        await settle(app, pilot)
        await pilot.press("escape", "L")
        await settle(app, pilot)
        assert app.navigator.draft is None
        assert not app.screen.controller.form.models


async def test_a_filter_of_runs_does_not_hide_those_of_the_next_start(workspace: Any, tmp_path: Path) -> None:
    workspace.usual_runs()
    async with started(workspace, tmp_path / "app.json") as (app, pilot):
        await pilot.press("slash", *"hasty", "enter")
        await settle(app, pilot)
        assert "1 of 4, 3 hidden" in text_of(app)
    async with started(workspace, tmp_path / "app.json") as (app, pilot):
        assert "filter  hasty" not in text_of(app)
        assert "gpt-x" in text_of(app)


async def test_a_filter_is_in_sight_with_what_it_hides_until_it_is_cleared(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        for key, hidden in (("", "1 of 4, 3 hidden"), ("L", "hidden"), ("5", "hidden")):
            if key:
                await pilot.press(key)
                await settle(app, pilot)
            await pilot.press("slash", *"hasty", "enter")
            await settle(app, pilot)
            sign = next(line for line in text_of(app).splitlines() if "filter  hasty" in line)
            assert hidden in sign
            assert "F shows all" in sign
            await pilot.press("F")
            await settle(app, pilot)
            assert "filter  hasty" not in text_of(app)
            if key == "L":
                await pilot.press("slash", *"hasty", "enter", "escape")
                await settle(app, pilot)
                assert app.screen.where == "launch", "escape clears the filter, the form stays"
                assert "filter  hasty" not in text_of(app)
                await pilot.press("escape")


async def test_two_runs_that_end_together_are_told_apart(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    one = FakeEngine(root, name="2026-01-01T0000-a", model=ModelFacts("hasty"))
    other = FakeEngine(root, name="2026-01-01T0000-b", model=ModelFacts("careful"))
    async with one, other, opened(toasts=True) as (app, pilot):
        await assert_until(pilot, lambda: len(app.services.workspace.live) == 2)
        await one.end()
        await other.end()

        def told() -> bool:
            app.services.workspace.look()
            return len(app.screen.query(Toast)) == 2

        await assert_until(pilot, told)
        shown = text_of(app)
        assert "hasty · recorded finished" in shown
        assert "careful · recorded finished" in shown


async def test_toasts_keep_clear_of_the_detail(opened: Any, workspace: Any) -> None:
    run = plain_run(workspace.root / "runs").folder
    for size in ((80, 24), (160, 45)):
        async with opened(size, toasts=True) as (app, pilot):
            app.navigator.open_review(run)
            await assert_until(pilot, lambda: app.screen.where == "review")
            await settle(app, pilot)
            app.services.navigator.mark_for_compare(run)
            await assert_until(pilot, lambda: bool(app.screen.query(Toast)))
            await settle(app, pilot)
            toast = app.screen.query_one(Toast).region
            assert not toast.overlaps(app.screen.query_one("#detail").region), (size, toast)


async def test_toasts_cover_no_run_of_live(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    for place, size in enumerate(((80, 24), (160, 45))):
        one = FakeEngine(root, name=f"2026-01-01T000{place}-a", model=ModelFacts("hasty"))
        other = FakeEngine(root, name=f"2026-01-01T000{place}-b", model=ModelFacts("careful"))
        async with one, other, opened(size, toasts=True) as (app, pilot):
            await assert_until(pilot, lambda: len(app.services.workspace.live) == 2)
            app.navigator.open_live(one.recorder.folder)
            await assert_until(pilot, lambda: app.screen.where == "live" and app.screen.live_runs_panel.strips == 2)
            app.services.notify(Content("something happened elsewhere"))
            await assert_until(pilot, lambda: bool(app.screen.query(Toast)))
            await settle(app, pilot)
            toast = app.screen.query_one(Toast).region
            assert not toast.overlaps(app.screen.live_runs_panel.region), (size, toast)
