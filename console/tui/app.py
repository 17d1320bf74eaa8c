"""`ConsoleApp`: owns screens, keys and services. Contains no evaluation logic and imports no model client.

All data is on disk, so quitting, crashing or losing the terminal loses nothing. A crash shows no local variables: the
exception is reported by the command line in one sentence.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events, work
from textual.actions import SkipAction
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.filter import LineFilter, Monochrome, NoColor

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.engine.background import failures_reported
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.actions import EXPORTS_FIRST, EXPORTS_RUNS, Action
from console.tui.app_services import AppServices
from console.tui.data.runs import RunLine
from console.tui.data.ui_state import UiState
from console.tui.data.workspace import LOOK_EVERY_S
from console.tui.desktop import clipboard_program, copy_by_program
from console.tui.frame_output import AsciiFilter, FrameOutput
from console.tui.key_dispatch import KeyQueue, do_action, find_method, responders_on
from console.tui.keymap import bindings_for, find_action, load_key_map
from console.tui.navigation import load_screens
from console.tui.sanitize import ControlCharacterFilter, one_line
from console.tui.screens.base import ROOM_FOR_HELP, BaseScreen, below_dialogs
from console.tui.symbols import SYMBOLS, outcome_counts, state_word
from console.tui.textual_patches import (
    catch_fatal_errors,
    end_by_error,
    has_screens,
    hold_drawing,
    read_invalid_input,
    reads_styles_once,
    when_resumed,
    write_to_terminal,
)
from console.tui.themes import DARK, NAMES, roles_of, themes
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

LOAD_AHEAD_S = 0.7
"""Seconds after the first frame, once models, suites and runs have been read, until further screens are imported."""
INDEX_AFTER_S = 3.0
"""Seconds after the first frame until conversations are indexed for search, in a process of its own."""
COLLECT_AFTER = (2_000, 10, 100)
"""Garbage collection thresholds (`gc.set_threshold`); full collections are rare, as they take 0.1 s with a long run."""
SWITCH_S = 0.001
"""Thread switch interval, so that reading threads do not block the loop; Python's default of 5 ms makes keys lag."""
_NAMED = 5
"""Maximum number of live runs named when asking whether to quit."""
_BELL_SWITCH = "notice"
"""Name of the switch in `UiState`."""
_BELL_TEXT = "A run has ended."
"""Text of the terminal notification; omits the names of model, suite and run for privacy."""
_PLAIN_TERMS = ("dumb", "linux", "vt")
"""Prefixes of terminals that may print unknown sequences."""


@reads_styles_once
class ConsoleApp(App[int]):
    """The app: owns the services, the key queue and the terminal output."""

    TITLE = "eval-console"
    CSS_PATH = "console.tcss"
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
        paths: WorkspacePaths | None = None,
        *,
        theme: str = DARK,
        keys_path: Path | None = None,
        ui_state: UiState | None = None,
        keeps_index: bool = False,
    ) -> None:
        """Create the app; before the first paint, only the user's keys are read from disk.

        Args:
            paths: where models, data and runs are.
            theme: name of one of our themes.
            keys_path: the user's keys.toml; None for the one in the config folder.
            ui_state: persisted state; None to keep it in memory only.
            keeps_index: whether to keep the search index up to date in the background.
        """
        key_map = load_key_map(keys_path or _keys_path())
        self._control_characters = ControlCharacterFilter()
        super().__init__()
        self.animation_level = "none"
        for own in themes():
            self.register_theme(own)
        self.theme = theme
        self.services = AppServices(
            self, paths or WorkspacePaths(), ui_state or UiState(), key_map, self.announce_end_of_run
        )
        self.navigator = self.services.navigator
        self._responders = (self.navigator, self.services.exports, self)
        """Objects that handle actions not handled by the screen, in order."""
        self._typed_keys = KeyQueue(self, super().on_event)
        self.output = FrameOutput(self, self._after_first_frame)
        self.crash: BaseException | None = None
        """The error that ended the app, if any."""
        self._until_unmounted = ExitStack()
        self._keeps_index = keeps_index
        catch_fatal_errors(self, self._end_with)
        read_invalid_input(self)

    # Styles ----------------------------------------------------------------------------------------------------------

    def refresh_css(self, animate: bool = True) -> None:
        """Reapply the styles; before there is a screen, only set their variables."""
        if has_screens(self):
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def delay_update(self, delay: float = 0.05) -> None:
        """Suspend drawing for some seconds."""
        hold_drawing(self, delay)

    # Start and end ---------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our color roles, for other themes."""
        return roles_of(DARK)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add our filters to Textual's; with NO_COLOR and the ANSI theme, drop colors instead of graying them."""
        filters = list(super().get_line_filters())
        if self.no_color and self.native_ansi_color:
            filters = [NoColor() if isinstance(line_filter, Monochrome) else line_filter for line_filter in filters]
        if SYMBOLS.is_ascii:
            filters.append(AsciiFilter())
        return [*filters, self._control_characters]

    def on_mount(self) -> None:
        """Set the user's keys, subscribe to changes, and start polling the runs."""
        self._until_unmounted.enter_context(failures_reported(self._end_by_background))
        key_map, workspace = self.services.key_map, self.services.workspace
        self.set_keymap(key_map.for_textual())
        for mistake in key_map.mistakes:
            self.services.notify(one_line(mistake), severity="warning")
        when_resumed(self, self.output.shown.forget)
        workspace.changed.subscribe(self, self._show_badge)
        self.set_interval(LOOK_EVERY_S, workspace.look)

    def _after_first_frame(self) -> None:
        gc.freeze()  # loaded modules stay, so exclude them from collections
        gc.set_threshold(*COLLECT_AFTER)
        gc.enable()
        sys.setswitchinterval(SWITCH_S)
        workspace, loop = self.services.workspace, asyncio.get_running_loop()
        if self.navigator.is_at_home:
            workspace.read_all()
            loop.call_later(LOAD_AHEAD_S, workspace.in_thread, load_screens)
        else:  # started with a run, which is read first
            self.mode_change_signal.subscribe(self, lambda _: workspace.read_once())
            loop.call_later(LOAD_AHEAD_S, workspace.read_once)
        if self._keeps_index:
            loop.call_later(INDEX_AFTER_S, self._keep_index)

    def _keep_index(self) -> None:
        self.services.search_indexing.note_changes()
        self.services.workspace.changed.subscribe(self, self._index_changes)

    def _index_changes(self, changed: str) -> None:
        if changed == "runs":
            self.services.search_indexing.note_changes()

    def on_unmount(self) -> None:
        """Stop handling errors of threads and tasks."""
        self._until_unmounted.close()

    def _end_by_background(self, name: str, error: Exception) -> None:
        """End the app with an unexpected error of a thread or task, as if it had occurred in a callback."""
        del name

        def fail() -> None:
            raise error

        self.services.workspace.hand_over(fail)

    def _end_with(self, error: BaseException | None) -> None:
        """Store the error that ended the app; `run_app` raises it.

        Textual's input thread ends the app without reporting its error.
        """
        self.crash = error or RuntimeError("the terminal's input could not be read")

    def panic(self, *renderables: Any) -> None:
        """Exit without rendering the exception."""
        end_by_error(self)

    # Notifications ---------------------------------------------------------------------------------------------------

    def announce_end_of_run(self, line: RunLine) -> None:
        """Notify that a live run has ended, with the bell unless the run is on screen."""
        counts = " ".join(f"{mark} {count:,}" for mark, count, _ in outcome_counts(line.tally))
        model = one_line(line.summary.model if line.summary else "", 24)
        words = Content.assemble(model, " · ", one_line(line.label, 30), f" {state_word(line.state).plain}: {counts}")
        self.services.notify(words)
        if line.tally.unsuccessful and not line.is_branch:
            self.navigator.renew_review()
        shown = self.screen.shown_run if isinstance(self.screen, BaseScreen) else None
        is_watched = self.app_focus and shown is not None and shown.path == line.folder.path
        write = write_to_terminal(self)
        if write is not None and not is_watched and self.services.ui_state.switch(_BELL_SWITCH, True):
            ring(write, os.environ)

    def action_notice_toggle(self) -> None:
        on = not self.services.ui_state.switch(_BELL_SWITCH, True)
        self.services.ui_state.keep(_BELL_SWITCH, on)
        self.services.notify(Content("The bell rings when a run ends." if on else "The bell is off."))

    def _show_badge(self, changed: str) -> None:
        screen = below_dialogs(self)
        if changed == "runs" and screen is not None and screen.is_mounted:
            for line in screen.query(TopLine):  # none yet while the screen is being composed
                line.tell(badge=self.services.badge)

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_menu(self, id: str) -> None:
        """Show a menu and perform the chosen action."""
        screen = self.screen
        if not isinstance(screen, BaseScreen):
            return
        opener = find_action(id, screen.where, "all")
        entries = [action for action in screen.actions_here() if action.menu == id]
        entries = [action for action in entries if not screen.why_not(action)] or entries
        if opener is not None and entries:
            from console.tui.dialogs.small_dialogs import KeyMenu

            is_of_runs = id == "export" and screen.where in EXPORTS_RUNS
            first = len(EXPORTS_FIRST) if is_of_runs else 0
            menu = KeyMenu(opener, entries, self.services.key_map, first=first)
            self.push_screen(menu, self.perform)
            if is_of_runs:
                taken = {key for entry in entries for key in self.services.key_map.keys_of(entry)}
                self.services.exports.find_offered(screen.where, taken, menu.add)

    async def action_perform(self, method: str) -> None:
        action_method = find_method(method, self._responders_now())
        if action_method is None:
            raise SkipAction  # let bindings further up handle the key
        await do_action(action_method)

    def _responders_now(self) -> Iterable[object]:
        """Return what may handle an action: with a screen that is not mounted yet, only what is not part of it."""
        return responders_on(self.screen, self._responders) if self.screen.is_mounted else self._responders

    def perform(self, action: Action | None) -> None:
        """Perform an action that was chosen or clicked, if any."""
        if action is None:
            return
        if action.opens_menu:
            self.action_menu(action.id)
            return
        action_method = find_method(action.method, self._responders_now())
        if action_method is not None:
            self.call_next(action_method)

    async def on_event(self, event: events.Event) -> None:
        """Queue keys; handle other events as usual."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self._typed_keys.put(event)
        else:
            await super().on_event(event)

    async def on_key_handled(self) -> None:
        await self._typed_keys.release_next()

    def on_key_line_action_clicked(self, event: KeyLine.ActionClicked) -> None:
        self.perform(event.action)

    def on_top_line_screen_clicked(self, event: TopLine.ScreenClicked) -> None:
        self.perform(find_action(f"go.{event.name}", "all"))

    def action_palette(self) -> None:
        """Show the palette: actions available here or elsewhere, and everything that can be opened."""
        from console.tui.dialogs.palette import Command, Palette
        from console.tui.palette_commands import PaletteCommands

        def run(command: Command | None) -> None:
            if command is not None:
                command.run()

        if isinstance(self.screen, BaseScreen):
            commands = PaletteCommands(self.screen, self.services, self.perform, self._use_theme)
            self.push_screen(Palette(commands.here(), commands.elsewhere, self.services.ui_state), run)

    def action_help(self) -> None:
        """Show the screen's keys and symbols: next to it if there is room, else on top of it."""
        from console.tui.dialogs.help import HelpScreen

        if not isinstance(self.screen, BaseScreen):
            return
        if self.size.width >= ROOM_FOR_HELP:
            self.services.shows_help = not self.services.shows_help
            self.screen.sync_help()
        else:
            self.push_screen(HelpScreen(self.screen, self.services.key_map))

    def action_messages(self) -> None:
        from console.tui.dialogs.help import TextScreen

        self.push_screen(TextScreen("Messages", lambda: self.services.messages, "There are no messages yet."))

    def action_theme_next(self) -> None:
        index = NAMES.index(self.theme) + 1 if self.theme in NAMES else 0
        self._use_theme(NAMES[index % len(NAMES)])

    def _use_theme(self, name: str) -> None:
        self.theme = name
        self.services.ui_state.keep("theme", self.theme)
        self.services.notify(Content(f"Theme: {self.theme}"))

    def action_copy_or_explain(self) -> None:
        """Copy the selected text; without a selection, explain how to quit."""
        if self.screen.get_selected_text():
            self.screen.action_copy_text()
        else:
            self.services.notify(Content("ctrl+q quits; q goes back."))

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by OSC 52 and, in a terminal known to ignore it, by a program."""
        super().copy_to_clipboard(text)
        if not self.is_web and (command := clipboard_program(os.environ)):
            self.run_worker(partial(self._copy_by_program, command, text), thread=True, group="copy")

    def _copy_by_program(self, command: Sequence[str], text: str) -> None:
        try:
            copy_by_program(command, text, os.environ)
        except UsageError as error:
            self.services.from_thread(self.services.refuse, error)

    # Quitting --------------------------------------------------------------------------------------------------------

    async def action_leave(self) -> None:
        """Go back; at Home, quit."""
        if self.navigator.is_at_home:
            await self.action_quit()
        else:
            self.navigator.action_back()

    async def action_quit(self) -> None:
        """Quit; while runs are live, ask whether to stop those started here."""
        launched = self.navigator.launched
        started_here = [run for run in launched if run.is_live]
        paths = {run.path for run in launched}
        others = [run for run in self.services.workspace.live_now() if run.path not in paths]
        if started_here or others:
            self._ask_about(started_here, others)
        else:
            self.exit(0)

    @work(exclusive=True, group="quit")
    async def _ask_about(self, started_here: list[RunFolder], others: list[RunFolder]) -> None:
        from console.tui.dialogs.small_dialogs import Answer, Question

        answers = [Answer("l", "leave running; `eval-console` shows it again")]
        answers += [Answer("s", "stop what was started here; r resumes it")] if started_here else []
        kinds = ((started_here, " started here: "), (others, " live, started elsewhere: "))
        descriptions = [
            Content.assemble((number_format.plural(len(runs), "run"), "bold"), words, _names(runs))
            for runs, words in kinds
            if runs
        ]
        answer = await self.services.ask(Question(Content("\n").join(descriptions), answers))
        if answer == "s":
            await self._stop(started_here)
        if answer:
            self.exit(0)

    async def _stop(self, runs: list[RunFolder]) -> None:
        from console.core.live import Command
        from console.engine.attach import send_command

        await asyncio.gather(*(send_command(run.path, Command("stop")) for run in runs))


def _names(runs: list[RunFolder]) -> Content:
    return Content(", ").join([one_line(run.name, 50) for run in runs[:_NAMED]] + [Content("…")] * (len(runs) > _NAMED))


def ring(write: Callable[[str], object], environment: Mapping[str, str]) -> None:
    """Ring the bell and, on terminals that ignore unknown sequences, show a notification (OSC 9 and OSC 777)."""
    write("\a")
    if environment.get("TERM", "dumb").startswith(_PLAIN_TERMS):
        return
    write(f"\x1b]9;{_BELL_TEXT}\x1b\\")
    write(f"\x1b]777;notify;eval-console;{_BELL_TEXT}\x1b\\")


def _keys_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("eval-console", appauthor=False)) / "keys.toml"
