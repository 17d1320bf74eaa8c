"""`ConsoleApp`: the places, the keys and the live badge. Holds no rules of evaluation and imports no model client.

What it shows is on disk; quitting, crashing or losing the terminal loses nothing. A crash shows no local variables:
the exception leaves `run` and the command line says it in one sentence.
"""

import asyncio
import gc
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.worker import WorkerFailed

from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.bell import NOTICE, ring
from console.tui.data.catalog_items import RunLine, WorkspacePaths
from console.tui.data.ui_state import UiState
from console.tui.data.workspace import LOOK_EVERY_S, Workspace
from console.tui.keymap import actions_at, bindings_for, find_action, load_key_map
from console.tui.navigation import RunNavigation, load_screens
from console.tui.render.ascii_filter import AsciiFilter
from console.tui.render.frame_diff import CompositorUpdate, ShownFrame, is_behind
from console.tui.render.run_states import state_word
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import ControlCharacterFilter, one_line
from console.tui.screens.base import ROOM_FOR_HELP, BaseScreen
from console.tui.styling import StyledApp
from console.tui.themes import DARK, DARK_ROLES, NAMES, themes
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

if TYPE_CHECKING:
    from console.tui.data.run_feeds import Feeds
    from console.tui.dialogs.finder import Found

LOAD_AHEAD_S = 0.7
"""How long after the first frame the screens of runs are loaded: when models, suites and runs have been read."""
Severity = Literal["information", "warning", "error"]
CATCH_UP_S = 0.05
"""How often a slow terminal is asked whether it has taken everything."""


def _home() -> Screen[Any]:
    from console.tui.screens.home.screen import HomeScreen

    return HomeScreen()


def _library() -> Screen[Any]:
    from console.tui.screens.library.screen import LibraryScreen

    return LibraryScreen()


class ConsoleApp(RunNavigation, StyledApp):
    """The app; see the module."""

    TITLE = "eval-console"
    CSS_PATH = "console.tcss"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {"home": _home, "library": _library}
    DEFAULT_MODE = "home"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  typed by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012  typed by Textual
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for("all"),
        Binding("ctrl+c", "copy_or_explain", show=False, system=True),
    ]

    def __init__(
        self,
        places: WorkspacePaths | None = None,
        *,
        theme: str = DARK,
        keys_path: Path | None = None,
        memory: UiState | None = None,
    ) -> None:
        """Make the app; nothing but the reader's keys is read from disk before the first paint.

        Args:
            places: where models, data and runs are.
            theme: name of one of our themes.
            keys_path: the reader's keys.toml; None: in the config folder.
            memory: what is remembered from earlier starts; None: nothing, and nothing is kept.
        """
        self.key_map = load_key_map(keys_path or _keys_path())
        """The keys in use."""
        self._sieve = ControlCharacterFilter()
        self._painted = ShownFrame()
        self._is_late = False
        """Whether frames are left out because the terminal has not taken earlier ones yet."""
        super().__init__()
        self.animation_level = "none"
        for own in themes():
            self.register_theme(own)
        self.theme = theme
        self.memory = memory or UiState()
        self.places = places or WorkspacePaths()
        self.workspace = Workspace(self, self.places)
        """Models, suites and runs."""
        self.messages: list[Content] = []
        """Everything that was announced, oldest first."""
        self.launched: list[RunFolder] = []
        """Runs started from here since the app opened."""
        self.shows_help = False
        """Whether help stands beside every place that has room for it."""
        self.crash: BaseException | None = None
        """What ended the app, if something did."""

    # Start and end ---------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colour roles to themes that are not ours."""
        return dict(DARK_ROLES)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the last net for foreign text to Textual's filters; NO_COLOR keeps the terminal's own two colours."""
        found = list(super().get_line_filters())
        if self.no_color and self.native_ansi_color:
            found = [NoColor() if isinstance(line_filter, Monochrome) else line_filter for line_filter in found]
        return [*found, AsciiFilter(), self._sieve] if SYMBOLS.is_ascii else [*found, self._sieve]

    def on_mount(self) -> None:
        """Take over signals and the reader's keys; read everything once the first frame is painted."""
        self.set_keymap(self.key_map.for_textual())
        for mistake in self.key_map.mistakes:
            self.say(one_line(mistake), severity="warning")
        cast(Any, self).app_resume_signal.subscribe(self, self._repaint)
        self.workspace.changed.subscribe(self, self._show_badge)
        self.call_after_refresh(self._after_first_frame)
        self.set_interval(LOOK_EVERY_S, self.workspace.look)

    def _after_first_frame(self) -> None:
        gc.freeze()  # what is loaded now stays; looking at it again and again would only cost pauses
        gc.enable()
        self.workspace.read_all()
        self._open_first()
        asyncio.get_running_loop().call_later(LOAD_AHEAD_S, self.workspace.in_thread, load_screens)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Send what differs from what the terminal shows; nothing while that lags behind."""
        if is_behind(self._driver):
            if not self._is_late:
                self._is_late = True
                asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
            return
        if isinstance(renderable, CompositorUpdate) and not self._batch_count:
            renderable = self._painted.take(renderable)
        cast(Any, super())._display(screen, renderable)

    def _catch_up(self) -> None:
        """Draw the present once the terminal has taken the past."""
        if not self.is_running:
            return
        if is_behind(self._driver):
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
            return
        self._is_late = False
        self.screen.refresh()

    def _repaint(self, _: object) -> None:
        """Draw everything again after another program had the terminal."""
        self._painted.forget()

    def _fatal_error(self) -> None:
        """Leave without printing local variables, which may hold keys; `run_app` raises what happened."""
        error = self._exception
        self.crash = error.error if isinstance(error, WorkerFailed) else error  # where it happened, not who waited
        self._close_messages_no_wait()

    def panic(self, *renderables: Any) -> None:
        """Leave without rendering an exception that knows how to draw itself."""
        self._fatal_error()

    # Saying things ---------------------------------------------------------------------------------------------------

    def say(self, text: Content, *, severity: Severity = "information") -> None:
        """Show a toast, one at a time, and keep it under `Messages`. Foreign parts must come through `safe`."""
        self.messages.append(text)
        self.clear_notifications()
        self.notify(text.plain, severity=severity, timeout=4, markup=False)

    def run_ended(self, line: RunLine) -> None:
        """Announce that a live run came to its end."""
        tally = line.tally
        counts = f"{SYMBOLS.passed} {tally.passed} {SYMBOLS.failed} {tally.failed} {SYMBOLS.broken} {tally.broken}"
        self.say(Content.assemble(one_line(line.label, 30), f" {state_word(line.state).plain}: {counts}"))
        shown: RunFolder | None = getattr(self.screen, "run_folder", None)
        is_watched = self.app_focus and shown is not None and shown.path == line.folder.path
        if self._driver is not None and not is_watched and self.memory.switch(NOTICE, True):
            ring(self._driver.write, os.environ)

    def action_notice_toggle(self) -> None:
        """Ring at the end of a run from now on, or no longer."""
        on = not self.memory.switch(NOTICE, True)
        self.memory.keep(NOTICE, on)
        self.say(Content("The end of a run rings." if on else "The end of a run is silent."))

    @property
    def badge(self) -> Content:
        """The sign that runs are live, for every top line; empty when none is."""
        live = self.workspace.live
        if not live:
            return Content.empty()
        planned = sum(line.summary.planned for line in live if line.summary)
        share = sum(line.tally.finished for line in live) / planned if planned else 0.0
        if self.size.width < 120:
            return Content.styled(f"{SYMBOLS.live} {share:.0%}", "bold $live")
        # Live itself says what its run costs, up to the last answer; here only finished conversations count.
        is_told = isinstance(self.screen, BaseScreen) and self.screen.where == "live"
        is_paid = not is_told and any(line.summary and not line.summary.simulated for line in live)
        cost = f"  {number_format.money(sum(line.tally.cost_usd for line in live))}" if is_paid else ""
        return Content.assemble(
            (f"{SYMBOLS.live} {number_format.plural(len(live), 'run')} live", "bold $live"), f"  {share:.0%}{cost}"
        )

    def _show_badge(self, what: str) -> None:
        if what == "runs" and isinstance(self.screen, BaseScreen) and self.screen.is_mounted:
            for line in self.screen.query(TopLine):  # none yet while the screen is being composed
                line.tell(badge=self.badge)

    @cached_property
    def feeds(self) -> "Feeds":
        """The open feeds, shared by the screens that show the same run."""
        from console.tui.data.run_feeds import Feeds

        return Feeds()

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_menu(self, id: str) -> None:
        """List the second keys of a menu and do what is chosen."""
        screen = self.screen
        if not isinstance(screen, BaseScreen):
            return
        opener = find_action(id, screen.where, "all")
        entries = [action for action in actions_at(screen.where) if action.menu == id]
        if opener is not None and entries:
            from console.tui.dialogs.key_menu import KeyMenu

            self.push_screen(KeyMenu(opener, entries, self.key_map), self.perform)

    def perform(self, action: Action | None) -> None:
        """Do an action on the focused widget, the screen or the app, whichever knows it first."""
        if action is None:
            return
        if action.opens_menu:
            self.action_menu(action.id)
            return
        nodes: list[DOMNode] = [*([*self.focused.ancestors_with_self] if self.focused else [self.screen]), self]
        for node in nodes:
            method = getattr(node, f"action_{action.method}", None)
            if method is not None:
                self.call_next(method)
                return

    def on_key_line_action_clicked(self, event: KeyLine.ActionClicked) -> None:
        """Do what was clicked on the key line."""
        self.perform(event.action)

    def action_palette(self) -> None:
        """Open the list of all commands."""
        from console.tui.dialogs.palette import Palette

        if isinstance(self.screen, BaseScreen):
            self.push_screen(Palette(self.screen, self.key_map), self.perform)

    def action_jump(self) -> None:
        """Find a run, or a case of the run at hand, and go there."""
        from console.tui.dialogs.finder import Finder

        shown: RunFolder | None = getattr(self.screen, "run_folder", None)
        known = [line.folder for line in self._last_first() if line.summary is not None]
        if isinstance(self.screen, BaseScreen):
            self.push_screen(Finder(self.workspace, shown or (known[0] if known else None)), self._jump)

    def _jump(self, found: "Found | None") -> None:
        if found is not None and not found.case and found.run.is_live:
            self.open_live(found.run)
        elif found is not None:
            self.open_review(found.run, found.case or None)

    def action_help(self) -> None:
        """Show keys and marks of this screen: beside it where there is room, over it otherwise."""
        from console.tui.dialogs.help import HelpScreen

        if not isinstance(self.screen, BaseScreen):
            return
        if self.size.width >= ROOM_FOR_HELP:
            self.shows_help = not self.shows_help
            self.screen.sync_help()
        else:
            self.push_screen(HelpScreen(self.screen, self.key_map))

    def action_view_zoom(self) -> None:
        """Show the focused pane alone, or everything again."""
        if isinstance(self.screen, BaseScreen):
            self.screen.toggle_zoom()

    def action_messages(self) -> None:
        """Show everything that was announced."""
        from console.tui.dialogs.help import MessageScreen

        self.push_screen(MessageScreen(self.messages))

    def action_theme_next(self) -> None:
        """Change to the next of our themes."""
        place = NAMES.index(self.theme) + 1 if self.theme in NAMES else 0
        self.theme = NAMES[place % len(NAMES)]
        self.memory.keep("theme", self.theme)
        self.say(Content(f"Theme: {self.theme}"))

    def action_copy_or_explain(self) -> None:
        """Copy the selected text; without one, say how to leave."""
        if self.screen.get_selected_text():
            self.screen.action_copy_text()
        else:
            self.say(Content("ctrl+q quits; q goes back."))

    def copy(self, text: str, what: str) -> None:
        """Put text on the clipboard, without control characters, and say so. `what` is a word of ours."""
        from console.core.text import without_hidden

        self.copy_to_clipboard(without_hidden(text))
        self.say(Content(f"Copied {what} (through the terminal, OSC 52)."))

    # Back and out ----------------------------------------------------------------------------------------------------

    async def action_back(self) -> None:
        """Take one step back: inside the screen, then to the screen below, then Home."""
        if isinstance(self.screen, BaseScreen) and self.screen.go_back():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != "home":
            self.switch_mode("home")

    async def action_leave(self) -> None:
        """Go back; at Home, quit."""
        if self.current_mode == "home" and len(self.screen_stack) == 1:
            await self.action_quit()
        else:
            await self.action_back()

    async def action_quit(self) -> None:
        """Quit; ask first while a run that was started from here is live."""
        live = [run for run in self.launched if run.is_live]
        if live:
            self._ask_about(live)
        else:
            self.exit(0)

    @work(exclusive=True, group="quit")
    async def _ask_about(self, live: list[RunFolder]) -> None:
        from console.tui.dialogs.question import Answer, Question

        answers = [Answer("l", "leave it running; `eval-console` shows it again"), Answer("s", "stop it; r resumes it")]
        names = Content(", ").join([one_line(run.name, 50) for run in live])
        text = Content.assemble((number_format.plural(len(live), "run"), "bold"), " started here: ", names)
        answer = await self.push_screen_wait(Question(text, answers))
        if answer == "s":
            await self._stop(live)
        if answer:
            self.exit(0)

    async def _stop(self, runs: list[RunFolder]) -> None:
        from console.core.live import Command
        from console.engine.attach import EngineLink

        for run in runs:
            link = await EngineLink.connect(run.path)
            if link is not None:
                link.send(Command("stop"))
                await asyncio.sleep(0)
                link.close()


def _keys_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("eval-console", appauthor=False)) / "keys.toml"
