"""All uses of Textual's private names, one function each, with the reason for it.

Textual is pinned exactly; `tests/tui/test_textual_patches.py` fails if a newer version changes one of these names.
"""

import asyncio
import sys
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App, ScreenStackError
from textual.css.query import QueryError
from textual.css.stylesheet import Stylesheet
from textual.dom import NoScreen
from textual.geometry import Offset
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.selection import SelectState
from textual.style import Style
from textual.widget import MountError, Widget
from textual.worker import WorkerFailed

__all__ = ["ChopsUpdate", "CompositorUpdate", "LayoutUpdate"]
"""Textual's screen updates: parts of lines, and whole lines; only its private compositor reports what changed."""

AppT = TypeVar("AppT", bound=type[App[Any]])
ScreenT = TypeVar("ScreenT", bound=type[Screen[Any]])
WidgetT = TypeVar("WidgetT", bound=type[Widget])

# Styles --------------------------------------------------------------------------------------------------------------


def reads_styles_once(app_class: AppT) -> AppT:
    """Decorate an app so that a new screen is styled only once.

    Textual styles it twice, because the screen's update count lags behind the app's.
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
    """Set the mode whose screen is shown first, known only at run time.

    Textual takes it from the class (`DEFAULT_MODE`). Switching after startup would lay out, style and draw an unwanted
    screen first.
    """
    private: Any = app
    private._screen_stacks = {mode: []}
    private._current_mode = mode


def set_size_classes(screen: Screen[Any]) -> None:
    """Set a screen's size classes while it is empty.

    Textual sets them on the first resize, when everything in the screen has to be styled again.
    """
    private: Any = screen
    app: Any = private.app
    widths = private._get_breakpoint_classes(app.size.width, app.HORIZONTAL_BREAKPOINTS)
    heights = private._get_breakpoint_classes(app.size.height, app.VERTICAL_BREAKPOINTS)
    screen.update_classes(dict.fromkeys(widths | heights, True), update=False)
    app.stylesheet.apply(screen)


def stylesheet_of(widget: Widget) -> Stylesheet:
    """Return the app's style sheet, to apply styles before the next refresh; `Widget.app` is untyped."""
    untyped: Any = widget
    return untyped.app.stylesheet


def style_getter(widget: Widget) -> Callable[[str | Style], Style]:
    """Return the function that resolves styles such as `$muted` for a widget.

    Textual passes it to `Content.render_strips` for its own widgets; there is no public way to get it.
    """
    getter: Callable[[str | Style], Style] = widget._get_style  # pyright: ignore[reportPrivateUsage]
    return getter


# Drawing -------------------------------------------------------------------------------------------------------------


def hold_drawing(app: App[Any], seconds: float) -> None:
    """Suspend drawing for some seconds, then redraw everything.

    Unlike `App.delay_update`, it uses the loop's clock, since Textual's timer may be lost on a busy machine and drawing
    would never resume; and it always refreshes, which Textual omits.
    """
    private: Any = app
    private._begin_batch()

    def end() -> None:
        private._end_batch()
        if not private._batch_count:
            app.screen.refresh()

    asyncio.get_running_loop().call_later(seconds, app.call_later, end)


def draws_nothing_while_held(screen_class: ScreenT) -> ScreenT:
    """Decorate a screen so that it draws nothing while drawing is suspended.

    Textual would render everything, discard it, and consider it shown.
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
    """Filter an app's screen updates; Textual sends every line of every widget that requested a redraw.

    Args:
        app: the app to patch.
        is_held: called before each frame; true drops the frame.
        reduce: returns the part of an update to send; not called while Textual itself suspends drawing.
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
    """Call a function whenever the app resumes after being suspended; the signal is untyped."""
    untyped: Any = app

    def resumed(_: object) -> None:
        call()

    untyped.app_resume_signal.subscribe(app, resumed)


def writes_waiting(app: App[Any]) -> int:
    """Return the number of pending terminal writes; Textual's writer queues thirty before the app blocks."""
    private: Any = app
    queue = getattr(getattr(private._driver, "_writer_thread", None), "_queue", None)
    return queue.qsize() if queue is not None else 0


def write_to_terminal(app: App[Any]) -> Callable[[str], None] | None:
    """Return the function that writes raw sequences such as a bell; None if there is no terminal."""
    private: Any = app
    return private._driver.write if private._driver is not None else None


# Size and scroll bars ------------------------------------------------------------------------------------------------


def sized_by_apply_size(widget_class: WidgetT) -> WidgetT:
    """Decorate a widget so that its method `apply_size` wraps Textual's `_size_updated`.

    `on_resize` comes too late: a frame with the new size and the old scroll bar would be drawn first.
    """
    patched: Any = widget_class
    upstream = patched._size_updated

    def _size_updated(self: Any, size: Any, virtual_size: Any, container_size: Any, layout: bool = True) -> bool:
        return bool(self.apply_size(lambda: upstream(self, size, virtual_size, container_size, layout)))

    patched._size_updated = _size_updated
    return widget_class


def refresh_scrollbars(widget: Widget) -> None:
    """Show or hide a widget's scroll bars to suit its content; Textual does so only when it lays out the screen."""
    private: Any = widget
    private._refresh_scrollbars()


# Input ---------------------------------------------------------------------------------------------------------------


def read_invalid_input(app: App[Any]) -> None:
    """Read bytes that are not UTF-8 as U+FFFD; otherwise they would end Textual's input thread."""
    module: Any = sys.modules[app.driver_class.__module__]

    def decoder(encoding: str) -> Callable[[], IncrementalDecoder]:
        return partial(getincrementaldecoder(encoding), "replace")

    module.getincrementaldecoder = decoder


def ignores_removed_widgets(screen_class: ScreenT) -> ScreenT:
    """Decorate a screen so that events between two updates leave the app open.

    Until the next layout, Textual still finds a removed widget at its old place, and starts or extends a selection
    there (its own check lacks the parentheses of a call). While a screen or the whole app is being removed, it still
    delivers messages and callbacks, whose handlers no longer find their widgets. Messages that say that they are stale
    are about a row that is gone.
    """
    patched: Any = screen_class
    dispatch, select, invoke_all = (
        patched._dispatch_message,
        patched._watch__select_state,
        patched._invoke_and_clear_callbacks,
    )
    widget_and_offset_at = screen_class.get_widget_and_offset_at

    async def _dispatch_message(self: Any, message: Message) -> None:
        if getattr(message, "is_stale", False):
            return
        try:
            await dispatch(self, message)
        except (MountError, NoScreen, QueryError, ScreenStackError):
            if not _is_leaving(self):
                raise

    async def _invoke_and_clear_callbacks(self: Any) -> None:
        self._callbacks[:] = [each for each in self._callbacks if not _is_leaving(each[1])]
        await invoke_all(self)

    def _watch__select_state(self: Any, state: SelectState | None) -> None:
        ends = () if state is None else (state.start, *([state.end] if state.end is not None else ()))
        widgets = [widget for end in ends for widget in (end.container, end.content_widget) if widget is not None]
        if all(widget.is_attached for widget in widgets):
            select(self, state)
        else:
            self.clear_selection()

    def get_widget_and_offset_at(self: Any, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        widget, offset = widget_and_offset_at(self, x, y)
        return (widget, offset) if widget is None or widget.is_attached else (None, None)

    patched._dispatch_message, patched._watch__select_state = _dispatch_message, _watch__select_state
    patched._invoke_and_clear_callbacks = _invoke_and_clear_callbacks
    patched.get_widget_and_offset_at = get_widget_and_offset_at
    return screen_class


def _is_leaving(pump: MessagePump) -> bool:
    """Return whether a widget or the whole app is being removed."""
    private: Any = pump
    return private._closing or getattr(private, "_pruning", False) or private.app._exit


# Exit ----------------------------------------------------------------------------------------------------------------


def catch_fatal_errors(app: App[Any], receive: Callable[[BaseException | None], None]) -> None:
    """Pass fatal errors to a function and close the app without Textual's traceback.

    That traceback prints all local variables, which may hold keys and whole conversations.
    """
    private: Any = app

    def _fatal_error() -> None:
        error = private._exception
        receive(error.error if isinstance(error, WorkerFailed) else error)  # the original error
        private._close_messages_no_wait()

    private._fatal_error = _fatal_error


def end_by_error(app: App[Any]) -> None:
    """Close the app as if a callback had raised."""
    private: Any = app
    private._fatal_error()
