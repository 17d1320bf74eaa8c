"""What opens over a place: help, palette, menus, questions, messages: left again without a trace."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from support.screen_text import assert_until, see, text_of
from textual import events

from console.tui.app import ConsoleApp
from console.tui.dialogs.small_dialogs import KeyMenu
from console.tui.key_dispatch import KeyQueue

Check = Callable[[ConsoleApp, str], None]
Frame = Callable[[ConsoleApp], str]


@pytest.mark.parametrize("key", ["question_mark", "colon", "y", "slash"])
async def test_escape_takes_one_step_back(key: str, opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        before = frame(app)
        await pilot.press(key, "escape")
        await pilot.pause()
        assert app.screen.where == "home"
        after = frame(app)
        assert after == before or key == "slash"
        await pilot.press("1")
        assert app.screen.where == "home"


async def test_the_mouse_goes_to_places(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.click("TopLine", offset=(30, 0))
        await pilot.pause()
        await pilot.pause()
        assert app.screen.where == "review"


async def test_models_toml_is_made_from_an_example(opened: Any, workspace: Any, settle: Any) -> None:
    (workspace.root / "models.toml").unlink()
    async with opened() as (app, pilot):
        await pilot.press("e")
        await settle(app, pilot)
        assert "# [gpt]" in (workspace.root / "models.toml").read_text(encoding="utf-8")
        assert app.services.workspace.models.mistakes == []


async def test_the_key_right_after_the_first_slash_goes_into_the_line(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        for key in ("slash", "s", "v"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await see(pilot, "RUNS  0 of 4")
        assert app.screen.where == "home"
        assert "s newest first" in text_of(app)
        assert text_of(app).splitlines()[-1].startswith(" enter keep  esc clear ")
        await see(pilot, "sim/hasty", "escape")


async def test_keys_typed_at_once_reach_where_they_were_meant(opened: Any) -> None:
    """Posted without waiting in between, as a paste or a fast typist does."""
    async with opened() as (app, pilot):
        for key in ("L", "j", "j", "space", "tab", "space", "tab", "7"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await assert_until(pilot, lambda: app.screen.where == "launch" and bool(app.screen.controller.form.texts))
        assert app.screen.controller.form.models == ["sim/careful"]
        assert list(app.screen.controller.form.suites) == ["small-talk"]
        assert app.screen.controller.form.texts == {"cases": "7"}


async def test_a_key_that_reaches_a_menu_twice_closes_only_the_menu(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("5")
        below = app.screen
        await pilot.press("y")
        menu = app.screen
        assert isinstance(menu, KeyMenu)
        for _ in range(3):
            menu.on_key(events.Key("escape", None))
        await pilot.pause()
        assert app.screen is below


async def test_a_key_waits_for_the_one_before_however_long_the_app_is_blocked(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow machine, opening a screen takes longer than the next key may wait."""
    async with opened() as (app, _):
        sent: list[events.Event] = []

        async def deliver(event: events.Event) -> None:
            sent.append(event)

        clock = iter(range(0, 1_000_000, 60))
        queue = KeyQueue(app, deliver)
        with monkeypatch.context() as patched:
            patched.setattr(time, "monotonic", lambda: float(next(clock)))
            await queue.put(events.Key("v", "v"))
            await queue.put(events.Key("r", "r"))
        assert len(sent) == 1
        await queue.release_next()
        assert len(sent) == 2
