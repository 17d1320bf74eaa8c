"""What opens over a place: help, palette, menus, questions, messages: left again without a trace."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.screen_text import assert_until, see, text_of, wait_for_answers
from textual import events
from textual.content import Content

from console.tui.app import ConsoleApp
from console.tui.dialogs.small_dialogs import Answer, KeyMenu, Question
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


@pytest.mark.parametrize("is_held", [False, True])
async def test_whoever_asks_may_be_cancelled_while_the_last_dialog_leaves(opened: Any, is_held: bool) -> None:
    async with opened((120, 40)) as (app, pilot):

        async def ask_twice() -> None:
            for _ in range(2):
                await app.services.ask(Question(Content("go on?"), [Answer("y", "yes")]))

        for turns in range(20):
            asking = app.run_worker(ask_twice())
            await assert_until(pilot, lambda: isinstance(app.screen, Question) and app.screen.is_mounted)
            dialog = app.screen
            widgets = list(dialog.walk_children(with_self=True))
            goes_on = asyncio.Event()
            app.call_later(goes_on.wait)
            if is_held:
                await asyncio.sleep(0.01)
            else:
                goes_on.set()  # the app is just about to handle a message
            dialog.dismiss("y")
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            goes_on.set()
            await wait_for_answers(app)
            await assert_until(pilot, lambda gone=widgets: not any(map(app.is_mounted, gone)), 10)
            if isinstance(app.screen, Question):
                app.screen.dismiss("")
