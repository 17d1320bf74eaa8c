"""What the console changes in Textual by names private to it, or asks of it: one function each, with the reason.

Textual is pinned exactly; `tests/tui/test_textual_patches.py` fails when one of these names changes in a newer one.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen

AppT = TypeVar("AppT", bound=type[App[Any]])
ScreenT = TypeVar("ScreenT", bound=type[Screen[Any]])


def reads_styles_once(app_class: AppT) -> AppT:
    """Decorate an app: a new screen takes the styles as they are.

    By itself Textual reads all style sheets again for every new screen: its count of updates is behind the app's.
    """
    patched: Any = app_class
    upstream = patched._load_screen_css

    def _load_screen_css(self: Any, screen: Any) -> None:
        upstream(self, screen)
        if screen._css_update_count < 0:
            screen._css_update_count = self._css_update_count

    patched._load_screen_css = _load_screen_css
    return app_class


def has_screens(app: App[Any]) -> bool:
    """Return whether the app's mode has a screen yet; without one, `App.screen` raises and nothing needs styles."""
    private: Any = app
    return bool(private._screen_stacks.get(private._current_mode))


def start_in_mode(app: App[Any], mode: str) -> None:
    """Let the first screen be that of a mode known only at run time.

    Textual takes the first mode from the class (`DEFAULT_MODE`) as it is made. Opening another screen once the first
    one stands would mean to lay out, style and draw a screen that nobody asked for.
    """
    private: Any = app
    private._screen_stacks = {mode: []}
    private._current_mode = mode


def hold_drawing(app: App[Any], seconds: float) -> None:
    """Draw nothing for a moment, and draw everything after it.

    As `App.delay_update`, but by the loop's clock: Textual's timer may be lost on a busy machine, and with it all
    drawing; and always with a refresh, which Textual leaves out.
    """
    private: Any = app
    private._begin_batch()

    def end() -> None:
        private._end_batch()
        if not private._batch_count:
            app.screen.refresh()

    asyncio.get_running_loop().call_later(seconds, app.call_later, end)


def draws_nothing_while_held(screen_class: ScreenT) -> ScreenT:
    """Decorate a screen: draw nothing while drawing is held back.

    Textual draws it all, shows it to nobody and counts it as shown.
    """
    patched: Any = screen_class
    upstream: Callable[[Any], None] = patched._compositor_refresh

    def _compositor_refresh(self: Any) -> None:
        if not self.app._batch_count:
            upstream(self)

    patched._compositor_refresh = _compositor_refresh
    return screen_class


def take_size_classes(screen: Screen[Any]) -> None:
    """Give a screen the classes of the terminal's size while it is empty: later, everything in it is styled anew.

    Textual sets them at the first resize, when the screen is full.
    """
    private: Any = screen
    app: Any = private.app
    widths = private._get_breakpoint_classes(app.size.width, app.HORIZONTAL_BREAKPOINTS)
    heights = private._get_breakpoint_classes(app.size.height, app.VERTICAL_BREAKPOINTS)
    screen.update_classes(dict.fromkeys(widths | heights, True), update=False)
    app.stylesheet.apply(screen)
