"""What the console changes in Textual by names private to it, or asks of it: one function each, with the reason.

Textual is pinned exactly; `tests/tui/test_textual_patches.py` fails when one of these names changes in a newer one.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.worker import WorkerFailed

__all__ = ["ChopsUpdate", "CompositorUpdate", "LayoutUpdate"]
"""What Textual draws: parts of lines, and whole lines. Its private compositor alone says what changed."""

AppT = TypeVar("AppT", bound=type[App[Any]])
ScreenT = TypeVar("ScreenT", bound=type[Screen[Any]])
WidgetT = TypeVar("WidgetT", bound=type[Widget])

# Styles --------------------------------------------------------------------------------------------------------------


def reads_styles_once(app_class: AppT) -> AppT:
    """Decorate an app: a new screen takes the styles as they are.

    By itself Textual styles every new screen twice: the screen's count of updates is behind the app's.
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


def set_size_classes(screen: Screen[Any]) -> None:
    """Give a screen the classes of the terminal's size while it is empty: later, everything in it is styled anew.

    Textual sets them at the first resize, when the screen is full.
    """
    private: Any = screen
    app: Any = private.app
    widths = private._get_breakpoint_classes(app.size.width, app.HORIZONTAL_BREAKPOINTS)
    heights = private._get_breakpoint_classes(app.size.height, app.VERTICAL_BREAKPOINTS)
    screen.update_classes(dict.fromkeys(widths | heights, True), update=False)
    app.stylesheet.apply(screen)


def stylesheet_of(widget: Widget) -> Stylesheet:
    """Return the app's style sheet, to apply styles before the next refresh; `Widget.app` has an unknown type."""
    untyped: Any = widget
    return untyped.app.stylesheet


def style_getter(widget: Widget) -> Callable[[str | Style], Style]:
    """Return how a widget reads styles such as `$muted` in its colours.

    Textual passes it to `Content.render_strips` for its own widgets; there is no public way to ask for it.
    """
    getter: Callable[[str | Style], Style] = widget._get_style  # pyright: ignore[reportPrivateUsage]
    return getter


# Drawing -------------------------------------------------------------------------------------------------------------


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


def filter_frames(
    app: App[Any], is_held: Callable[[], bool], reduce: Callable[[CompositorUpdate], CompositorUpdate | None]
) -> None:
    """Let an app send less than Textual would, which sends every line of whatever asked to be drawn.

    Args:
        app: whose frames go through the two functions from now on.
        is_held: asked before each frame; true leaves it out.
        reduce: returns what of an update has to be sent; not asked while Textual itself holds drawing back.
    """
    private: Any = app
    upstream = private._display

    def _display(screen: Screen[Any], renderable: Any) -> None:
        if is_held():
            return
        if isinstance(renderable, CompositorUpdate) and not private._batch_count:
            renderable = reduce(renderable)
        upstream(screen, renderable)

    private._display = _display


def when_resumed(app: App[Any], call: Callable[[], None]) -> None:
    """Call a function when the app has the terminal again; the signal's own type is unknown."""
    untyped: Any = app

    def resumed(_: object) -> None:
        call()

    untyped.app_resume_signal.subscribe(app, resumed)


def writes_waiting(app: App[Any]) -> int:
    """Return how many writes wait for the terminal to take them; Textual's writer queues thirty, and then all waits."""
    private: Any = app
    queue = getattr(getattr(private._driver, "_writer_thread", None), "_queue", None)
    return queue.qsize() if queue is not None else 0


def write_to_terminal(app: App[Any]) -> Callable[[str], None] | None:
    """Return how to write a sequence that draws nothing, such as a bell; None without a terminal."""
    private: Any = app
    return private._driver.write if private._driver is not None else None


# Size and scroll bars ------------------------------------------------------------------------------------------------


def sized_by_apply_size(widget_class: WidgetT) -> WidgetT:
    """Decorate a widget: its method `apply_size` is given Textual's `_size_updated` to call.

    `on_resize` comes too late: the frame with the new size and the old scroll bar would have been drawn.
    """
    patched: Any = widget_class
    upstream = patched._size_updated

    def _size_updated(self: Any, size: Any, virtual_size: Any, container_size: Any, layout: bool = True) -> bool:
        return bool(self.apply_size(lambda: upstream(self, size, virtual_size, container_size, layout)))

    patched._size_updated = _size_updated
    return widget_class


def refresh_scrollbars(widget: Widget) -> None:
    """Show or hide a widget's scroll bars as its content needs; Textual does so only with a layout of the screen."""
    private: Any = widget
    private._refresh_scrollbars()


# End -----------------------------------------------------------------------------------------------------------------


def catch_fatal_errors(app: App[Any], receive: Callable[[BaseException | None], None]) -> None:
    """Give what ends the app to a function, and end it.

    Textual prints the traceback with all local variables, which may hold keys and whole conversations.
    """
    private: Any = app

    def _fatal_error() -> None:
        error = private._exception
        receive(error.error if isinstance(error, WorkerFailed) else error)  # where it happened, not who waited
        private._close_messages_no_wait()

    private._fatal_error = _fatal_error


def end_by_error(app: App[Any]) -> None:
    """End the app as after any error in a callback."""
    private: Any = app
    private._fatal_error()
