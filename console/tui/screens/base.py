"""`BaseScreen`: what every screen shares: top line, body, key line, find bar, zoom, and the small layout.

In a small terminal only the pane with the focus is shown, as if it was zoomed, between one line above and one below.

A screen says `where` it is in the action table, composes its body, and may answer three questions: which words the
key line uses now, why an action cannot act now, and what to do with the text of the find bar.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.tui.actions import Action
from console.tui.keymap import actions_at
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

if TYPE_CHECKING:
    from console.tui.app import ConsoleApp
    from console.tui.widgets.find_bar import FindBar

LEAST_WIDTH, LEAST_HEIGHT = 40, 10
"""Below this there is one sentence and nothing else."""
ROOM_FOR_HELP = 160
"""Cells from which help stands beside the place."""
ROOMY_WIDTH, ROOMY_HEIGHT = 60, 16
"""Below this one pane is shown at a time."""


class BaseScreen(Screen[None]):
    """A screen of the app; see the module."""

    where: ClassVar[str] = ""
    """Its name in the action table."""
    heading: ClassVar[str] = ""
    """What it is called on its top line."""
    find_hint: ClassVar[str] = "type to narrow, enter keeps, esc clears"
    """What can be typed into the find bar."""
    DEFAULT_CSS = """
    BaseScreen { layers: base; overflow: hidden; }
    BaseScreen > .body { height: 1fr; }
    BaseScreen > .too-small { display: none; width: 1fr; height: 1fr; padding: 0 1; }
    BaseScreen.-too-small { TopLine, KeyLine, FindBar, .body { display: none; } .too-small { display: block; } }
    BaseScreen.-compact { TopLine, KeyLine { height: 1; } FindBar { margin-bottom: 1; } }
    """

    @property
    def console_app(self) -> "ConsoleApp":
        """The app, by its own type."""
        return cast("ConsoleApp", self.app)

    # To be answered by screens ---------------------------------------------------------------------------------------

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

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow or find; `done` when enter or escape closed the bar (escape with an empty text)."""

    # Composition -----------------------------------------------------------------------------------------------------

    def _compositor_refresh(self) -> None:
        """Draw nothing while drawing is held back: Textual draws it all, shows it to nobody and counts it as shown."""
        if not cast(Any, self.app)._batch_count:
            cast(Any, super())._compositor_refresh()

    def compose(self) -> ComposeResult:
        """Lay out top line, body and key line; the find bar comes when it is first opened."""
        self._take_size()
        yield TopLine(self.where, self.heading)
        with Vertical(classes="body"):
            yield from self.compose_body()
        yield KeyLine()
        yield Static(classes="too-small")

    def _take_size(self) -> None:
        """Take the classes of the terminal's size while the screen is empty: later, everything in it is styled anew."""
        app, find = self.console_app, cast(Any, self)._get_breakpoint_classes
        fitting = find(app.size.width, app.HORIZONTAL_BREAKPOINTS) | find(app.size.height, app.VERTICAL_BREAKPOINTS)
        self.update_classes(dict.fromkeys(fitting, True), update=False)
        cast(Any, app.stylesheet).apply(self)

    @property
    def top_line(self) -> TopLine:
        """The first line."""
        return self.query_one(TopLine)

    def on_mount(self) -> None:
        """Show keys and badge from the start."""
        self.top_line.tell(badge=self.console_app.badge)
        self.refresh_keys()

    @on(events.ScreenResume)
    def _keep_styles(self, event: events.ScreenResume) -> None:
        """Everything was styled a moment ago, as it was mounted, if the screen is shown for the first time."""
        event.refresh_styles, self._was_shown = self._was_shown, True

    def on_screen_resume(self) -> None:
        """Catch up with what changed while another screen was shown."""
        self.top_line.tell(badge=self.console_app.badge)
        self.sync_help()
        self.refresh_keys()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now, and the pane itself where only one is shown."""
        self.refresh_keys()
        if self.has_class("-zoomed"):
            self._show_alone(self.focused)

    def on_resize(self, event: events.Resize) -> None:
        """Show one pane at a time in little room, and nothing but a sentence when there is no room for that."""
        width, height = event.size
        small = width < LEAST_WIDTH or height < LEAST_HEIGHT
        if small and not self.has_class("-too-small"):
            self._before_small = self.focused
        self.set_class(small, "-too-small")
        if not small and self._before_small is not None:
            self.call_after_refresh(self._before_small.focus)
            self._before_small = None
        if small:
            text = (
                f"This terminal is {width}×{height}. The console needs {LEAST_WIDTH}×{LEAST_HEIGHT}; "
                "it is readable from 80×24."
            )
            self.query_one(".too-small", Static).update(Content(text))
        self.sync_help()
        compact = width < ROOMY_WIDTH or height < ROOMY_HEIGHT
        if compact != self.has_class("-compact"):
            self.set_class(compact, "-compact")
            self._zoom(compact or self._is_zoomed_by_reader)

    # Keys ------------------------------------------------------------------------------------------------------------

    def kinds_of_focus(self) -> tuple[str, ...]:
        """Return the action table's names for the focused widget's own keys."""
        where: str = getattr(self.focused, "where", "")
        return (where,) if where else ()

    def actions_here(self) -> tuple[Action, ...]:
        """Return every action of this screen and pane, the screen's own first."""
        return actions_at(self.where, *self.kinds_of_focus(), "all")

    def refresh_keys(self) -> None:
        """Draw the key line again because what can be done changed."""
        if self.is_mounted:
            typing: Mapping[str, str] | None = getattr(self.focused, "typing_words", None)
            here = [*actions_at(self.where), *actions_at(*self.kinds_of_focus(), "all")]
            actions = [action for action in here if not action.menu] if typing is None else actions_at("line")
            words = self.key_words() if typing is None else typing
            self.query_one(KeyLine).tell(actions, self.console_app.key_map, words, self.why_not)
            for help_pane in self.query("HelpPane"):
                cast(Any, help_pane).refresh_keys()

    def sync_help(self) -> None:
        """Show or remove the help beside the place, as the reader wants it and the width allows."""
        wanted = self.console_app.shows_help and self.size.width >= ROOM_FOR_HELP
        shown = self.query("HelpPane")
        if wanted and not shown:
            from console.tui.dialogs.help import HelpPane

            self.query_one(".body").mount(HelpPane(self, self.console_app.key_map))
        elif shown and not wanted:
            shown.remove()

    def action_pane_next(self) -> None:
        """Go to the next pane."""
        if self.has_class("-zoomed"):
            self._step_hidden(1)
        else:
            self.focus_next(".pane")

    def action_pane_prev(self) -> None:
        """Go to the previous pane."""
        if self.has_class("-zoomed"):
            self._step_hidden(-1)
        else:
            self.focus_previous(".pane")

    def _step_hidden(self, step: int) -> None:
        """Show another pane alone; hidden panes have no place on the screen, so they follow each other as composed."""
        self._show_alone(None)
        panes = [pane for pane in self.query_one(".body").query(".pane").results(Widget) if _can_be_shown(pane)]
        if self.focused in panes:
            self.set_focus(panes[(panes.index(self.focused) + step) % len(panes)])
        self._show_alone(self.focused)

    def go_back(self) -> bool:
        """Take one step back inside the screen: close the find bar, then the zoom. Say whether there was one."""
        if self._find_bar is not None and self._find_bar.is_open:
            self._close_find("")
            return True
        if self._is_zoomed_by_reader:
            self.toggle_zoom()
            return True
        return False

    # Find bar --------------------------------------------------------------------------------------------------------

    async def action_find(self) -> None:
        """Open the find bar."""
        from console.tui.widgets.find_bar import FindBar

        if self._find_bar is None:
            self._find_bar = FindBar(self.find_hint, self._find_typed, self._close_find)
            await self.mount(self._find_bar)
        self._before_find = self.focused
        self._find_bar.open()

    def clear_find(self) -> None:
        """Forget what was typed into the find bar."""
        if self._find_bar is not None:
            self._find_bar.value = ""
        self.find_changed("", done=False)

    def _find_typed(self, text: str) -> None:
        self.find_changed(text, done=False)

    def _close_find(self, text: str) -> None:
        if self._find_bar is not None:
            self._find_bar.close(text)
        if self._before_find is not None:
            self._before_find.focus()
        self.find_changed(text, done=True)
        self.refresh_keys()

    _was_shown = False
    _find_bar: "FindBar | None" = None
    _before_find: Widget | None = None
    _before_small: Widget | None = None

    # Zoom ------------------------------------------------------------------------------------------------------------

    _is_zoomed_by_reader = False

    def toggle_zoom(self) -> None:
        """Show the focused pane alone, or everything again; in little room one pane is alone anyway."""
        pane = self.focused
        if not self._is_zoomed_by_reader and (pane is None or not pane.has_class("pane")):
            return
        self._is_zoomed_by_reader = not self._is_zoomed_by_reader
        self._zoom(self._is_zoomed_by_reader or self.has_class("-compact"))

    def _zoom(self, zoomed: bool) -> None:
        self.set_class(zoomed, "-zoomed")
        self._show_alone(self.focused if zoomed else None)

    def _show_alone(self, pane: Widget | None) -> None:
        """Hide all panes but one, without waiting for the next refresh; None shows everything."""
        if pane is not None and not pane.has_class("pane"):
            return
        path: set[object] = set() if pane is None else {pane, *pane.ancestors}
        nodes = list(self.query_one(".body").query("*").results(Widget))
        for place, node in enumerate(nodes):
            is_title = node.has_class("pane-title") and place + 1 < len(nodes) and nodes[place + 1] is pane
            hidden = node not in path and node.parent in path and node.parent is not pane
            node.set_class(node in path, "zoom-path")
            node.set_class(hidden and not is_title, "zoom-hidden")
        self.console_app.stylesheet.update_nodes(nodes)
        self.refresh(layout=True)


def _can_be_shown(pane: Widget) -> bool:
    """Whether a pane can have the focus and neither it nor what holds it is hidden."""
    return pane.focusable and all(isinstance(node, Widget) and node.display for node in (pane, *pane.ancestors[:-1]))
