"""`ConsoleApp`: the places, the keys and the live badge. Holds no rules of evaluation and imports no model client.

What it shows is on disk; quitting, crashing or losing the terminal loses nothing. A crash shows no local variables:
the exception leaves `run` and the command line says it in one sentence.
"""

import asyncio
import gc
import importlib
import signal
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

from console.core.fault import UsageError
from console.insight import figures
from console.store.runs import RunFolder, find_run
from console.tui.actions import Action
from console.tui.compare.opening import CompareDoor
from console.tui.keys import actions_at, bindings_for, find_action, load_key_map
from console.tui.marks import MARKS
from console.tui.safe import Sieve, literal, one_line
from console.tui.screens.place import Place
from console.tui.shelf import LOOK_EVERY_S, Shelf
from console.tui.stock import Places, RunLine, runs_root
from console.tui.themes import DARK, DARK_ROLES, NAMES, themes
from console.tui.widgets.topline import TopLine

if TYPE_CHECKING:
    from console.tui.feed import Feeds

SCREENS_OF_RUNS = {
    "live": "console.tui.screens.live:LiveScreen",
    "review": "console.tui.screens.review:ReviewScreen",
}
"""Screens that show one run, imported when first opened."""
_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}
Severity = Literal["information", "warning", "error"]


def _home() -> Screen[Any]:
    from console.tui.screens.home import HomeScreen

    return HomeScreen()


class ConsoleApp(CompareDoor):
    """The app; see the module."""

    TITLE = "eval-console"
    CSS_PATH = "console.tcss"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {"home": _home}
    DEFAULT_MODE = "home"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  typed by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012  typed by Textual
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for("all"),
        Binding("ctrl+c", "copy_or_explain", show=False, system=True),
    ]

    def __init__(self, places: Places | None = None, *, theme: str = DARK, keys_path: Path | None = None) -> None:
        """Make the app; nothing but the reader's keys is read from disk before the first paint.

        Args:
            places: where models, data and runs are.
            theme: name of one of our themes.
            keys_path: the reader's keys.toml; None: in the config folder.
        """
        self.key_map = load_key_map(keys_path or _keys_path())
        """The keys in use."""
        self._sieve = Sieve()
        super().__init__()
        self.animation_level = "none"
        for own in themes():
            self.register_theme(own)
        self.theme = theme
        self.places = places or Places()
        self.shelf = Shelf(self, self.places)
        """Models, suites and runs."""
        self.messages: list[Content] = []
        """Everything that was announced, oldest first."""
        self.launched: list[RunFolder] = []
        """Runs started from here since the app opened."""
        self.crash: Exception | None = None
        """What ended the app, if something did."""
        self._modes_of: dict[str, tuple[str, Path]] = {}
        self._first: tuple[str, str] = ("", "")

    # Start and end ---------------------------------------------------------------------------------------------------

    def open_first(self, run: str, case: str = "") -> None:
        """Name a run (and case) to open as soon as the app is up."""
        self._first = (run, case)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colour roles to themes that are not ours."""
        return dict(DARK_ROLES)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the last net for foreign text to Textual's filters; NO_COLOR keeps the terminal's own two colours."""
        found = list(super().get_line_filters())
        if self.no_color and self.native_ansi_color:
            found = [NoColor() if isinstance(line_filter, Monochrome) else line_filter for line_filter in found]
        return [*found, self._sieve]

    def on_mount(self) -> None:
        """Take over signals and the reader's keys; read everything once the first frame is painted."""
        loop = asyncio.get_running_loop()
        for number, code in _SIGNALS.items():
            loop.add_signal_handler(number, self.exit, code)
        self.set_keymap(self.key_map.for_textual())
        for mistake in self.key_map.mistakes:
            self.say(one_line(mistake), severity="warning")
        self.shelf.changed.subscribe(self, self._show_badge)
        self.call_after_refresh(self._after_first_frame)
        self.set_interval(LOOK_EVERY_S, self.shelf.look)

    def _after_first_frame(self) -> None:
        gc.freeze()  # what is loaded now stays; looking at it again and again would only cost pauses
        gc.enable()
        self.shelf.read_all()
        self._open_first()

    def _open_first(self) -> None:
        name, case = self._first
        if not name:
            return
        try:
            run = find_run(runs_root(self.places), name)
        except UsageError as error:
            self.say(literal(str(error)), severity="error")
            return
        if run.is_live:
            self.open_live(run)
        else:
            self.open_review(run, case or None)

    def _fatal_error(self) -> None:
        """Leave without printing local variables, which may hold keys; `run_app` raises what happened."""
        self.crash = self._exception
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
        counts = f"{MARKS.passed} {tally.passed} {MARKS.failed} {tally.failed} {MARKS.broken} {tally.broken}"
        self.say(Content.assemble(one_line(line.label, 30), f" {line.state}: {counts}"))

    @property
    def badge(self) -> Content:
        """The sign that runs are live, for every top line; empty when none is."""
        live = self.shelf.live
        if not live:
            return Content.empty()
        planned = sum(line.summary.planned for line in live if line.summary)
        share = sum(line.tally.finished for line in live) / planned if planned else 0.0
        if self.size.width < 120:
            return Content.styled(f"{MARKS.live} {share:.0%}", "bold $live")
        cost = figures.money(sum(line.tally.cost_usd for line in live))
        return Content.assemble(
            (f"{MARKS.live} {figures.plural(len(live), 'run')} live", "bold $live"), f"  {share:.0%}  {cost}"
        )

    def _show_badge(self, what: str) -> None:
        if what == "runs" and isinstance(self.screen, Place) and self.screen.is_mounted:
            for line in self.screen.query(TopLine):  # none yet while the screen is being composed
                line.tell(badge=self.badge)

    @cached_property
    def feeds(self) -> "Feeds":
        """The open feeds, shared by the screens that show the same run."""
        from console.tui.feed import Feeds

        return Feeds()

    # Places ----------------------------------------------------------------------------------------------------------

    def open_live(self, run: RunFolder) -> None:
        """Watch a run."""
        self._open("live", run, None)

    def open_review(self, run: RunFolder, key: str | None = None) -> None:
        """Look at a run's failures, with the cursor on a case if one is named."""
        self._open("review", run, key)

    def _open(self, place: str, run: RunFolder, key: str | None) -> None:
        """Switch to the place's screen of this run; make it when another run is shown there so far."""
        known = self._modes_of.get(place)
        if known is not None and known[1] == run.path and key is None:
            self.switch_mode(known[0])
            return
        mode = f"{place} {run.path} {key or ''}"
        if known is not None and known[0] == mode:
            self.switch_mode(mode)
            return
        cast(Any, self).add_mode(mode, lambda: self._make_screen(place, run, key))
        self._modes_of[place] = (mode, run.path)
        self.switch_mode(mode)
        if known is not None:
            self.remove_mode(known[0])

    def _make_screen(self, place: str, run: RunFolder, key: str | None) -> Screen[Any]:
        module, _, name = SCREENS_OF_RUNS[place].partition(":")
        make = getattr(importlib.import_module(module), name)
        return make(run) if key is None else make(run, key)

    def action_go_home(self) -> None:
        """Go to Home."""
        self.switch_mode("home")

    def action_go_live(self) -> None:
        """Go back to the run that is watched, or to the newest live one."""
        self._go("live", self.shelf.live, Content("No run is live. L starts one."))

    def action_go_review(self) -> None:
        """Go back to the run that is reviewed, or to the newest one."""
        self._go("review", self.shelf.runs or [], Content("There is no run to review yet. L starts one."))

    def _go(self, place: str, candidates: Sequence[RunLine], otherwise: Content) -> None:
        if (known := self._modes_of.get(place)) is not None:
            self.switch_mode(known[0])
        elif candidates:
            self._open(place, candidates[0].folder, None)
        else:
            self.say(otherwise)

    def action_run_new(self) -> None:
        """Open the form for a new run."""
        self.open_form()

    def open_form(self, *, model: str = "", suite: str = "") -> None:
        """Open the form for a new run, with a model or suite selected already."""
        from console.tui.screens.launch import LaunchScreen

        if not isinstance(self.screen, LaunchScreen):
            self.push_screen(LaunchScreen(model=model, suite=suite))

    def take_launched(self, runs: Sequence[RunFolder]) -> None:
        """Take up runs that were started from here just now."""
        for run in reversed(runs):
            self.launched.append(run)
            self.shelf.expect(run)

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_menu(self, id: str) -> None:
        """List the second keys of a menu and do what is chosen."""
        screen = self.screen
        if not isinstance(screen, Place):
            return
        opener = find_action(id, screen.where, "all")
        entries = [action for action in actions_at(screen.where) if action.menu == id]
        if opener is not None and entries:
            from console.tui.screens.menu import KeyMenu

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

    def action_palette(self) -> None:
        """Open the list of all commands."""
        from console.tui.screens.palette import Palette

        if isinstance(self.screen, Place):
            self.push_screen(Palette(self.screen, self.key_map), self.perform)

    def action_help(self) -> None:
        """Show keys and marks of this screen."""
        from console.tui.screens.help import HelpScreen

        if isinstance(self.screen, Place):
            self.push_screen(HelpScreen(self.screen, self.key_map))

    def action_view_zoom(self) -> None:
        """Show the focused pane alone, or everything again."""
        if isinstance(self.screen, Place):
            self.screen.toggle_zoom()

    def action_messages(self) -> None:
        """Show everything that was announced."""
        from console.tui.screens.help import MessageScreen

        self.push_screen(MessageScreen(self.messages))

    def action_theme_next(self) -> None:
        """Change to the next of our themes."""
        place = NAMES.index(self.theme) + 1 if self.theme in NAMES else 0
        self.theme = NAMES[place % len(NAMES)]
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
        if isinstance(self.screen, Place) and self.screen.go_back():
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
        from console.tui.screens.question import Answer, Question

        answers = [Answer("l", "leave it running; `eval-console` shows it again"), Answer("s", "stop it; r resumes it")]
        names = Content(", ").join([one_line(run.name, 50) for run in live])
        text = Content.assemble((figures.plural(len(live), "run"), "bold"), " started here: ", names)
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
