"""`BaseScreen`: what every screen shares: top line, body, key line, find bar, zoom, and the small layout.

In a small terminal only the pane with the focus is shown, as if it was zoomed, between one line above and one below.

A screen says `where` it is in the action table, composes its body, and may answer three questions: which words the
key line uses now, why an action cannot act now, and what to do with the text of the find bar.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
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
from console.tui.textual_patches import draws_nothing_while_held, set_size_classes
from console.tui.widgets.filter_sign import FilterSign
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

if TYPE_CHECKING:
    from console.tui.dialogs.help import HelpPane

WIDE = 120
"""Cells from which panes stand side by side, each in a box; the app's breakpoint `-wide`."""
LEAST_WIDTH, LEAST_HEIGHT = 40, 10
"""Below this there is one sentence and nothing else."""
ROOM_FOR_HELP = 160
"""Cells from which help stands beside the place."""
ROOMY_WIDTH, ROOMY_HEIGHT = 60, 16
"""Below this one pane is shown at a time."""


@draws_nothing_while_held
class BaseScreen(Screen[None]):
    """A screen of the app: a top line, a body of panes and a key line."""

    where: ClassVar[str] = ""
    """Its name in the action table."""
    heading: ClassVar[str] = ""
    """What it is called on its top line."""
    find_hint: ClassVar[str] = "type to narrow, enter keeps, esc clears"
    """What can be typed into the find bar."""
    shown_parts: ClassVar[frozenset[str]] = frozenset()
    """Parts of the workspace that it shows, of `runs`, `models` and `suites`; see `show_workspace`."""
    DEFAULT_CSS = """
    BaseScreen { layers: base; overflow: hidden; }
    BaseScreen > .body { height: 1fr; }
    BaseScreen > .too-small { display: none; width: 1fr; height: 1fr; padding: 0 1; }
    BaseScreen.-too-small { TopLine, KeyLine, FindBar, FilterSign, .body { display: none; } }
    BaseScreen.-too-small .too-small { display: block; }
    BaseScreen.-compact { TopLine, KeyLine { height: 1; } FindBar, FilterSign { margin-bottom: 1; } }
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Give a screen the keys that the action table has for it."""
        if "where" in cls.__dict__:
            cls.BINDINGS = bindings_for(cls.where)
        super().__init_subclass__(**more)

    def __init__(self, services: Services) -> None:
        """Make a screen that asks the app by these services."""
        super().__init__()
        self.services = services
        self.zoom = PaneZoom(self)
        """Steps through the panes and shows one of them alone."""
        self.find_session = FindSession(self, self.find_hint, self._apply_find, self.refresh_keys)
        """Opens and closes the find bar."""
        self._was_shown = False
        self._focused_before_small: Widget | None = None
        self._help: HelpPane | None = None
        self._filter_sign: FilterSign | None = None

    # Questions that a screen may answer in its own way ---------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Yield what lies between top line and key line. Panes carry the class `pane`."""
        yield from ()

    def key_words(self) -> Mapping[str, str]:
        """Return other key line words for some action ids; an empty word hides one."""
        return {}

    def why_not(self, action: Action) -> str:
        """Return why an action cannot act now, in words, or an empty text."""
        return ""

    @property
    def run_offer(self) -> tuple[str, str]:
        """Model and suite that a new run from here starts with; empty where there is none."""
        return "", ""

    @property
    def responders(self) -> Sequence[object]:
        """Objects of this screen that do actions which neither the focused pane nor the screen itself does."""
        return ()

    @property
    def shown_run(self) -> RunFolder | None:
        """The run that this screen shows; None where it shows none, or several."""
        return None

    @property
    def run_under_cursor(self) -> RunFolder | None:
        """The run under the cursor of a screen that lists runs, for what is done with one run."""
        return None

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow or find; `done` when enter or escape closed the bar (escape with an empty text)."""

    @property
    def filter_in_force(self) -> FilterInForce | None:
        """Words that narrow a list of this screen, which is always in sight; None while nothing does."""
        return None

    @property
    def find_mistake(self) -> str:
        """What is wrong with what stands in the find bar, said above it as long as it is there. May be foreign text."""
        return ""

    def show_workspace(self, part: str) -> None:
        """Show a part of the workspace that has changed, or all `shown_parts` (an empty text) on coming into sight."""

    # Composition -----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out top line, body and key line; the find bar comes when it is first opened."""
        set_size_classes(self)
        yield TopLine(self.where, self.heading)
        with Vertical(classes="body"):
            yield from self.compose_body()
        yield KeyLine()
        yield Static(classes="too-small")

    @property
    def top_line(self) -> TopLine:
        """The first line."""
        return self.query_one(TopLine)

    def on_mount(self) -> None:
        """Show keys and badge from the start."""
        if self.shown_parts:
            self.services.workspace.changed.subscribe(self, self._show_news)
        self.top_line.tell(badge=self.services.badge)
        self.refresh_keys()

    @on(events.ScreenResume)
    def _keep_styles(self, event: events.ScreenResume) -> None:
        """Everything was styled a moment ago, as it was mounted, if the screen is shown for the first time."""
        event.refresh_styles, self._was_shown = self._was_shown, True

    def on_screen_resume(self) -> None:
        """Catch up with what changed while another screen was shown."""
        self.show_workspace("")
        self.top_line.tell(badge=self.services.badge)
        self.sync_help()
        self.refresh_keys()

    def _show_news(self, part: str) -> None:
        if self.is_current and part in self.shown_parts:
            self.show_workspace(part)
            self.refresh_keys()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now, and the pane itself where only one is shown."""
        self.refresh_keys()
        self.zoom.follow_focus()

    def on_resize(self, event: events.Resize) -> None:
        """Show one pane at a time in little room, and nothing but a sentence when there is no room for that."""
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
                "it is readable from 80×24."
            )
            self.query_one(".too-small", Static).update(Content(text))
        self.sync_help()
        self.zoom.set_compact(width < ROOMY_WIDTH or height < ROOMY_HEIGHT)

    # Keys ------------------------------------------------------------------------------------------------------------

    def kinds_of_focus(self) -> tuple[str, ...]:
        """Return the action table's names for the focused widget's own keys."""
        return (self.focused.where,) if isinstance(self.focused, HasOwnKeys) else ()

    def actions_here(self) -> tuple[Action, ...]:
        """Return every action of this screen and pane, the screen's own first."""
        return actions_at(self.where, *self.kinds_of_focus(), "all")

    def refresh_keys(self) -> None:
        """Draw the key line again because what can be done changed."""
        if self.is_mounted:
            self._sync_filter_sign()
            focused = self.focused
            typing_words = focused.typing_words if isinstance(focused, TakesLetters) else None
            here = [*actions_at(self.where), *actions_at(*self.kinds_of_focus(), "all")]
            actions = [action for action in here if not action.menu] if typing_words is None else actions_at("line")
            words = self.key_words() if typing_words is None else typing_words
            self.query_one(KeyLine).tell(actions, self.services.key_map, words, self.why_not)
            if self._help is not None and self._help.is_attached:
                self._help.refresh_keys()

    def _apply_find(self, text: str, *, done: bool) -> None:
        """Narrow or find, and say what cannot be read of it."""
        self.find_changed(text, done=done)
        self._sync_filter_sign()

    def _sync_filter_sign(self) -> None:
        """Say what narrows the list, while that is typed what is wrong with it; the sign is made when first needed."""
        is_typing = self.find_session.is_open
        in_force, mistake = (None, self.find_mistake) if is_typing else (self.filter_in_force, "")
        if (in_force is not None or mistake) and self._filter_sign is None:
            self._filter_sign = FilterSign()
            self.mount(self._filter_sign)
        if self._filter_sign is not None:
            self._filter_sign.show(in_force, mistake)

    def sync_help(self) -> None:
        """Show or remove the help beside the place, as the reader wants it and the width allows."""
        is_wanted = self.services.shows_help and self.size.width >= ROOM_FOR_HELP
        if is_wanted and self._help is None:
            from console.tui.dialogs.help import HelpPane

            self._help = HelpPane(self, self.services.key_map)
            self.query_one(".body").mount(self._help)
        elif self._help is not None and not is_wanted:
            self._help.remove()
            self._help = None

    def go_back(self) -> bool:
        """Take one step back inside the screen: close the find bar, then the zoom. Say whether there was one."""
        if self.find_session.is_open:
            self.find_session.close("")
            return True
        if self.zoom.is_chosen:
            self.zoom.action_view_zoom()
            return True
        return False
