"""`BaseScreen`: the parts shared by all screens: top line, body, key line, find bar, zoom and compact layout.

In a small terminal only the focused pane is shown, as if zoomed.

A screen sets `where`, its name in the action table, composes its body, and may override the key line's words, the
reasons why actions are unavailable, and the find bar's handler.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.store.runs import RunFolder
from console.tui.actions import Action, HasOwnKeys, TakesLetters
from console.tui.data.filter_in_force import FilterInForce
from console.tui.keymap import actions_at, bindings_for
from console.tui.screens.find_session import FindSession
from console.tui.screens.pane_zoom import PaneZoom
from console.tui.services import Services
from console.tui.textual_patches import draws_nothing_while_held, ignores_removed_widgets, set_size_classes
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

if TYPE_CHECKING:
    from console.tui.dialogs.help import HelpPane
    from console.tui.widgets.filter_sign import FilterSign

WIDE = 120
"""Minimum width in cells for panes side by side, each in a box; the app's breakpoint `-wide`."""
LEAST_WIDTH, LEAST_HEIGHT = 40, 10
"""Below this size only a message is shown."""
ROOM_FOR_HELP = 160
"""Minimum width in cells for the help pane."""
ROOMY_WIDTH, ROOMY_HEIGHT = 60, 16
"""Below this size one pane is shown at a time."""


@draws_nothing_while_held
@ignores_removed_widgets
class BaseScreen(Screen[None]):
    """A screen with a top line, a body of panes and a key line."""

    where: ClassVar[str] = ""
    """Name in the action table."""
    heading: ClassVar[str] = ""
    """Title on the top line."""
    find_hint: ClassVar[str] = "type to filter, enter keeps, esc clears"
    """Placeholder of the find bar."""
    shown_parts: ClassVar[frozenset[str]] = frozenset()
    """Parts of the workspace that the screen shows: `runs`, `models`, `suites`. See `show_workspace`."""
    DEFAULT_CSS = """
    BaseScreen { layers: base; overflow: hidden; }
    BaseScreen > .body { height: 1fr; }
    BaseScreen > .too-small { display: none; width: 1fr; height: 1fr; padding: 0 1; }
    BaseScreen.-too-small { TopLine, KeyLine, FindBar, FilterSign, .body { display: none; } }
    BaseScreen.-too-small .too-small { display: block; }
    BaseScreen.-compact { TopLine, KeyLine { height: 1; } FindBar, FilterSign { margin-bottom: 1; } }
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Bind the keys of the screen from the action table."""
        if "where" in cls.__dict__:
            cls.BINDINGS = bindings_for(cls.where)
        super().__init_subclass__(**more)

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services = services
        self.zoom = PaneZoom(self)
        self.first_keys: Callable[[], Collection[str]] = tuple[str, ...]
        """Returns the ids of the actions that come first in the key line, whatever their priority."""
        self.find_session = FindSession(self, self.find_hint, self._apply_find, self.refresh_keys)
        self._was_shown = False
        self._focused_before_small: Widget | None = None
        self._help: HelpPane | None = None
        self._filter_sign: FilterSign | None = None

    # For subclasses to override ---------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Yield the body. Panes have the class `pane`."""
        yield from ()

    def key_words(self) -> Mapping[str, str]:
        """Return key line labels that differ from the default, by action id; an empty label hides one."""
        return {}

    def why_not(self, action: Action) -> str:
        """Return the reason that an action is unavailable; empty if it is available."""
        return ""

    @property
    def run_offer(self) -> tuple[str, str]:
        """Model and suite preselected for a new run; empty if there is none."""
        return "", ""

    @property
    def responders(self) -> Sequence[object]:
        """Objects that handle actions which neither the focused pane nor the screen handles."""
        return ()

    @property
    def shown_run(self) -> RunFolder | None:
        """The run that the screen shows; None if it shows none or several."""
        return None

    @property
    def run_under_cursor(self) -> RunFolder | None:
        return None

    def find_changed(self, text: str, *, done: bool) -> None:
        """Filter or search; `done` is True when enter or escape closed the bar (escape with an empty string)."""

    @property
    def filter_in_force(self) -> FilterInForce | None:
        """The filter of the visible list; None if none is active."""
        return None

    @property
    def find_mistake(self) -> str:
        """Error in the text of the find bar, shown above it. May be untrusted text."""
        return ""

    def show_workspace(self, part: str) -> None:
        """Show a changed part of the workspace; empty, when the screen is resumed, means all `shown_parts`."""

    # Composition -----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Yield top line, body and key line; the find bar is created on first use."""
        set_size_classes(self)
        yield TopLine(self.where, self.heading)
        with Vertical(classes="body"):
            yield from self.compose_body()
        yield KeyLine()
        yield Static(classes="too-small")

    @property
    def top_line(self) -> TopLine:
        return self.query_one(TopLine)

    def on_mount(self) -> None:
        if self.shown_parts:
            self.services.workspace.changed.subscribe(self, self._show_news)
        self.top_line.tell(badge=self.services.badge)
        self.refresh_keys()

    @on(events.ScreenResume)
    def _keep_styles(self, event: events.ScreenResume) -> None:
        """Skip the restyling on first display, since everything was just styled when mounted."""
        event.refresh_styles, self._was_shown = self._was_shown, True

    def on_screen_resume(self) -> None:
        """Catch up with changes made while another screen was shown."""
        self.show_workspace("")
        self.top_line.tell(badge=self.services.badge)
        self.sync_help()
        self.refresh_keys()

    def _show_news(self, part: str) -> None:
        if self.is_current and part in self.shown_parts:
            self.show_workspace(part)
            self.refresh_keys()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the focused pane, and that pane alone when zoomed."""
        self.refresh_keys()
        self.zoom.follow_focus()

    def on_resize(self, event: events.Resize) -> None:
        """Switch to the compact layout in a small terminal, or to a message in a tiny one."""
        width, height = event.size
        small = width < LEAST_WIDTH or height < LEAST_HEIGHT
        if small and not self.has_class("-too-small"):
            self._focused_before_small = self.focused
        self.set_class(small, "-too-small")
        if not small and self._focused_before_small is not None:
            self.call_after_refresh(self._focused_before_small.focus)
            self._focused_before_small = None
        if small:
            text = (
                f"This terminal is {width}×{height}. The console needs {LEAST_WIDTH}×{LEAST_HEIGHT}; "
                "80×24 or more is recommended."
            )
            self.query_one(".too-small", Static).update(Content(text))
        self.top_line.tell(badge=self.services.badge)  # shorter where there is little room
        self.sync_help()
        self.zoom.set_compact(width < ROOMY_WIDTH or height < ROOMY_HEIGHT)

    # Keys ------------------------------------------------------------------------------------------------------------

    def kinds_of_focus(self) -> tuple[str, ...]:
        """Return the names under which the action table lists the focused widget's actions."""
        return (self.focused.where,) if isinstance(self.focused, HasOwnKeys) else ()

    def actions_here(self) -> tuple[Action, ...]:
        here = actions_at(self.where, *self.kinds_of_focus(), "all")
        return here if self.services.workspace.has_graders else tuple(each for each in here if not each.of_graders)

    def refresh_keys(self) -> None:
        """Redraw the key line after available actions have changed."""
        if self.is_mounted:
            self._sync_filter_sign()
            focused = self.focused
            typing_words = focused.typing_words if isinstance(focused, TakesLetters) else None
            here = [*actions_at(self.where), *actions_at(*self.kinds_of_focus(), "all")]
            actions = [action for action in here if not action.menu] if typing_words is None else actions_at("line")
            words = self.key_words() if typing_words is None else typing_words
            is_typing = typing_words is not None
            self.query_one(KeyLine).tell(
                actions, self.services.key_map, words, self.why_not, is_typing=is_typing, first=self.first_keys()
            )
            if self._help is not None and self._help.is_attached:
                self._help.refresh_keys()

    def _apply_find(self, text: str, *, done: bool) -> None:
        """Filter or search, and show any error in the query."""
        self.find_changed(text, done=done)
        self._sync_filter_sign()

    def _sync_filter_sign(self) -> None:
        """Show the active filter, or the query's error while typing; the widget is created on first use."""
        is_typing = self.find_session.is_open
        in_force, mistake = (None, self.find_mistake) if is_typing else (self.filter_in_force, "")
        if (in_force is not None or mistake) and self._filter_sign is None:
            from console.tui.widgets.filter_sign import FilterSign  # lazy, as few screens are filtered

            self._filter_sign = FilterSign()
            self.mount(self._filter_sign)
        if self._filter_sign is not None:
            self._filter_sign.show(in_force, mistake)

    def sync_help(self) -> None:
        """Show or remove the help pane, depending on the user's choice and the width."""
        if not self.is_mounted:
            return
        is_wanted = self.services.shows_help and self.size.width >= ROOM_FOR_HELP
        if is_wanted and self._help is None:
            from console.tui.dialogs.help import HelpPane

            self._help = HelpPane(self, self.services.key_map)
            self.query_one(".body").mount(self._help)
        elif self._help is not None and not is_wanted:
            self._help.remove()
            self._help = None

    def go_back(self) -> bool:
        """Close the find bar if it is open, else end the zoom; return False if there was neither."""
        if self.find_session.is_open:
            self.find_session.close("")
            return True
        if self.zoom.is_chosen:
            self.zoom.action_view_zoom()
            return True
        return False


def below_dialogs(app: App[Any]) -> BaseScreen | None:
    """Return the screen that is shown, even if a dialog covers part of it; None before the first one."""
    return next((screen for screen in reversed(app.screen_stack) if isinstance(screen, BaseScreen)), None)
