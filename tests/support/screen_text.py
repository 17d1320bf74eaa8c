"""What is shown, and waiting for it."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from textual._context import visible_screen_stack
from textual.app import App
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.strip import Strip
from textual.worker import WorkerCancelled

from console.tui.app import ConsoleApp
from console.tui.data.workspace import THREAD
from console.tui.screens.live.screen import LiveScreen

PATIENCE_S = 60.0


def text_of(app: App[Any]) -> str:
    """Return the screen as text."""
    return "\n".join(strip.text for strip in strips_of(app))


def strips_of(app: App[Any]) -> list[Strip]:
    """Return what the terminal shows, line by line; a dialog draws the screens behind it, which drawing hands to it."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


async def assert_until(pilot: Pilot[Any], holds: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Wait until something holds; fail with the screen when it never does."""
    ends = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < ends, f"it never came to hold:\n{text_of(pilot.app)}\n{pilot.app.screen!r}"
        await pilot.pause(0.01)
    await pilot.pause()


async def see(pilot: Pilot[Any], shown: str | Callable[[], object], *keys: str) -> None:
    """Press keys, and wait until words are shown or something holds."""
    await pilot.press(*keys)
    await assert_until(pilot, (lambda: shown in text_of(pilot.app)) if isinstance(shown, str) else shown)


async def wait_until_unchanged(app: App[Any], pilot: Pilot[int]) -> None:
    """Wait until the picture stays the same."""
    await pilot.pause()
    last = ""
    while last != (last := text_of(app)):
        await pilot.pause()


def assert_no_control_byte(app: App[Any]) -> None:
    """Look at every segment on the way to the terminal, before and after the app's own filters."""
    filters = app.get_line_filters()
    for strip in strips_of(app):
        for part in (strip, strip.apply_filter(filters[-1], app.screen.background_colors[1])):
            for character in part.text:
                code = ord(character)
                assert code >= 0x20, f"control character in {part.text!r}"
                assert not 0x7F <= code < 0xA0, f"control character in {part.text!r}"
                assert code not in (0x200E, 0x200F, 0x202E, 0x2066, 0x2028, 0x2029), f"bidi in {part.text!r}"
                assert not 0xD800 <= code < 0xE000, f"surrogate in {part.text!r}"


async def wait_for_answers(app: ConsoleApp, patience_s: float = PATIENCE_S) -> None:
    """Wait until the app and each widget of its screen have handled what they were sent.

    Unlike a pause of Pilot, it does not wait for widgets that leave meanwhile, and says which ones do not answer.
    """
    ends = time.monotonic() + patience_s
    answered: set[MessagePump] = set()

    def note(pump: MessagePump) -> None:
        answered.add(pump)

    pumps = [pump for pump in (app, *app.screen.walk_children(with_self=True)) if pump.is_running]
    for pump in pumps:
        pump.call_later(note, pump)
    while silent := [pump for pump in pumps if pump.is_running and pump not in answered]:
        assert time.monotonic() < ends, "\n".join(map(_state_of, silent))
        await asyncio.sleep(0.01)
    assert app.is_running or app.crash is not None


def _state_of(pump: MessagePump) -> str:
    """Return what a message loop waits for, and what waits for it."""
    private: Any = pump
    coroutine, places = private._task and private._task.get_coro(), []
    while frame := getattr(coroutine, "cr_frame", None):
        places.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        coroutine = coroutine.cr_await
    return f"{pump!r} {private._closing=} {private._closed=} {private._message_queue.qsize()} {places}"


async def settle(app: ConsoleApp, pilot: Pilot[int]) -> None:
    """Wait until threads have handed over what they read and it is drawn."""
    for _ in range(3):
        with contextlib.suppress(WorkerCancelled):  # another one of its group has taken its place
            await app.workers.wait_for_complete()
        while any(thread.name == THREAD for thread in threading.enumerate()):
            await pilot.pause(0.01)
        await pilot.pause()


def tile_cases(screen: LiveScreen) -> list[str]:
    return [tile.slot[0] if tile.slot else "" for tile in screen.controller.watched.tiles]
