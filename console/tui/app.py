"""`ConsoleApp`: owns screens, keys and services. Holds no rules of evaluation and imports no model client.

What it shows is on disk; quitting, crashing or losing the terminal loses nothing. A crash shows no local variables:
the exception leaves `run` and the command line says it in one sentence.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import events, work
from textual.actions import SkipAction
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.filter import LineFilter, Monochrome, NoColor

from console.config.paths import WorkspacePaths
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.actions import EXPORTS_RUNS, Action
from console.tui.app_services import AppServices
from console.tui.data.runs import RunLine
from console.tui.data.ui_state import UiState
from console.tui.data.workspace import LOOK_EVERY_S
from console.tui.frame_output import AsciiFilter, FrameOutput
from console.tui.key_dispatch import KeyQueue, do_action, find_method, responders_on
from console.tui.keymap import actions_at, bindings_for, find_action, load_key_map
from console.tui.navigation import load_screens
from console.tui.sanitize import ControlCharacterFilter, one_line
from console.tui.screens.base import ROOM_FOR_HELP, BaseScreen
from console.tui.symbols import SYMBOLS, outcome_counts, state_word
from console.tui.textual_patches import (
    catch_fatal_errors,
    end_by_error,
    has_screens,
    hold_drawing,
    reads_styles_once,
    when_resumed,
    write_to_terminal,
)
from console.tui.themes import DARK, NAMES, roles_of, themes
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

LOAD_AHEAD_S = 0.7
"""How long after the first frame the screens of runs are loaded: when models, suites and runs have been read."""
COLLECT_AFTER = (2_000, 10, 100)
"""When to look for garbage, see `gc.set_threshold`: everywhere only rarely, as a long run takes a tenth of a second."""
SWITCH_S = 0.001
"""How long a thread that reads or searches may keep the loop waiting; Python's own 5 ms are felt between two keys."""
_NAMED = 5
"""Live runs that are named when the reader quits."""
_BELL_SWITCH = "notice"
"""Name of the switch in `UiState`."""
_BELL_TEXT = "A run has ended."
"""What a terminal's notification says: no name of a model, suite or run leaves the app this way."""
_PLAIN_TERMS = ("dumb", "linux", "vt")
"""Terminals that may print what they do not understand."""


@reads_styles_once
class ConsoleApp(App[int]):
    """Owns the services, the key queue and what is drawn; knows no screen by its class."""

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
    ) -> None:
        """Make the app; nothing but the reader's keys is read from disk before the first paint.

        Args:
            paths: where models, data and runs are.
            theme: name of one of our themes.
            keys_path: the reader's keys.toml; None: in the config folder.
            ui_state: what is remembered from earlier starts; None: nothing, and nothing is kept.
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
        """What screens may ask."""
        self.navigator = self.services.navigator
        self._responders = (self.navigator, self.services.exports, self)
        """What does the actions that no screen does, the first one first."""
        self._typed_keys = KeyQueue(self, super().on_event)
        self.output = FrameOutput(self, self._after_first_frame)
        self.crash: BaseException | None = None
        """What ended the app, if something did."""
        catch_fatal_errors(self, self._end_with)

    # Styles ----------------------------------------------------------------------------------------------------------

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the styles again; while there is no screen yet, which will take them as they are, only the colours."""
        if has_screens(self):
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def delay_update(self, delay: float = 0.05) -> None:
        """Draw nothing for a moment."""
        hold_drawing(self, delay)

    # Start and end ---------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colour roles to themes that are not ours."""
        return roles_of(DARK)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the filter of control characters to Textual's; NO_COLOR keeps the terminal's own two colours."""
        filters = list(super().get_line_filters())
        if self.no_color and self.native_ansi_color:
            filters = [NoColor() if isinstance(line_filter, Monochrome) else line_filter for line_filter in filters]
        if SYMBOLS.is_ascii:
            filters.append(AsciiFilter())
        return [*filters, self._control_characters]

    def on_mount(self) -> None:
        """Take over signals and the reader's keys; read everything once the first frame is painted."""
        key_map, workspace = self.services.key_map, self.services.workspace
        self.set_keymap(key_map.for_textual())
        for mistake in key_map.mistakes:
            self.services.notify(one_line(mistake), severity="warning")
        when_resumed(self, self.output.shown.forget)
        workspace.changed.subscribe(self, self._show_badge)
        self.set_interval(LOOK_EVERY_S, workspace.look)

    def _after_first_frame(self) -> None:
        gc.freeze()  # what is loaded now stays; looking at it again and again would only cost pauses
        gc.set_threshold(*COLLECT_AFTER)
        gc.enable()
        sys.setswitchinterval(SWITCH_S)
        workspace, loop = self.services.workspace, asyncio.get_running_loop()
        if self.navigator.is_at_home:
            workspace.read_all()
            loop.call_later(LOAD_AHEAD_S, workspace.in_thread, load_screens)
        else:  # a run was named: it is read first, alone
            self.mode_change_signal.subscribe(self, lambda _: workspace.read_once())
            loop.call_later(LOAD_AHEAD_S, workspace.read_once)

    def _end_with(self, error: BaseException | None) -> None:
        """Remember what ended the app; `run_app` raises it."""
        self.crash = error

    def panic(self, *renderables: Any) -> None:
        """Leave without rendering an exception that knows how to draw itself."""
        end_by_error(self)

    # Saying things ---------------------------------------------------------------------------------------------------

    def announce_end_of_run(self, line: RunLine) -> None:
        """Announce that a live run came to its end."""
        counts = " ".join(f"{mark} {count}" for mark, count, _ in outcome_counts(line.tally))
        model = one_line(line.summary.model if line.summary else "", 24)
        words = Content.assemble(model, " · ", one_line(line.label, 30), f" {state_word(line.state).plain}: {counts}")
        self.services.notify(words)
        shown = self.screen.shown_run if isinstance(self.screen, BaseScreen) else None
        is_watched = self.app_focus and shown is not None and shown.path == line.folder.path
        write = write_to_terminal(self)
        if write is not None and not is_watched and self.services.ui_state.switch(_BELL_SWITCH, True):
            ring(write, os.environ)

    def action_notice_toggle(self) -> None:
        """Ring at the end of a run from now on, or no longer."""
        on = not self.services.ui_state.switch(_BELL_SWITCH, True)
        self.services.ui_state.keep(_BELL_SWITCH, on)
        self.services.notify(Content("The end of a run rings." if on else "The end of a run is silent."))

    def _show_badge(self, changed: str) -> None:
        if changed == "runs" and isinstance(self.screen, BaseScreen) and self.screen.is_mounted:
            for line in self.screen.query(TopLine):  # none yet while the screen is being composed
                line.tell(badge=self.services.badge)

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_menu(self, id: str) -> None:
        """List the second keys of a menu and do what is chosen."""
        screen = self.screen
        if not isinstance(screen, BaseScreen):
            return
        opener = find_action(id, screen.where, "all")
        entries = [action for action in actions_at(screen.where) if action.menu == id]
        if opener is not None and entries:
            from console.tui.dialogs.small_dialogs import KeyMenu

            menu = KeyMenu(opener, entries, self.services.key_map)
            self.push_screen(menu, self.perform)
            if id == "export" and screen.where in EXPORTS_RUNS:
                taken = {key for entry in entries for key in self.services.key_map.keys_of(entry)}
                self.services.exports.find_offered(screen.where, taken, menu.add)

    async def action_perform(self, method: str) -> None:
        action_method = find_method(method, responders_on(self.screen, self._responders))
        if action_method is None:
            raise SkipAction  # so that the key may mean something further up
        await do_action(action_method)

    def perform(self, action: Action | None) -> None:
        """Do an action that was chosen from a list or clicked; None: nothing was chosen."""
        if action is None:
            return
        if action.opens_menu:
            self.action_menu(action.id)
            return
        action_method = find_method(action.method, responders_on(self.screen, self._responders))
        if action_method is not None:
            self.call_next(action_method)

    async def on_event(self, event: events.Event) -> None:
        """Queue keys; everything else goes its way."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self._typed_keys.put(event)
        else:
            await super().on_event(event)

    async def on_key_handled(self) -> None:
        """Let the next key go."""
        await self._typed_keys.go_on()

    def on_key_line_action_clicked(self, event: KeyLine.ActionClicked) -> None:
        """Do what was clicked on the key line."""
        self.perform(event.action)

    def on_top_line_screen_clicked(self, event: TopLine.ScreenClicked) -> None:
        """Go to the screen that was clicked on the top line."""
        self.perform(find_action(f"go.{event.name}", "all"))

    def action_palette(self) -> None:
        from console.tui.dialogs.palette import Palette

        if isinstance(self.screen, BaseScreen):
            self.push_screen(Palette(self.screen, self.services.key_map), self.perform)

    def action_help(self) -> None:
        """Show keys and marks of this screen: beside it where there is room, over it otherwise."""
        from console.tui.dialogs.help import HelpScreen

        if not isinstance(self.screen, BaseScreen):
            return
        if self.size.width >= ROOM_FOR_HELP:
            self.services.shows_help = not self.services.shows_help
            self.screen.sync_help()
        else:
            self.push_screen(HelpScreen(self.screen, self.services.key_map))

    def action_messages(self) -> None:
        """Show everything that was announced."""
        from console.tui.dialogs.help import TextScreen

        self.push_screen(TextScreen("Messages", lambda: self.services.messages, "Nothing was announced yet."))

    def action_theme_next(self) -> None:
        place = NAMES.index(self.theme) + 1 if self.theme in NAMES else 0
        self.theme = NAMES[place % len(NAMES)]
        self.services.ui_state.keep("theme", self.theme)
        self.services.notify(Content(f"Theme: {self.theme}"))

    def action_copy_or_explain(self) -> None:
        """Copy the selected text; without one, say how to leave."""
        if self.screen.get_selected_text():
            self.screen.action_copy_text()
        else:
            self.services.notify(Content("ctrl+q quits; q goes back."))

    # Leaving ----------------------------------------------------------------------------------------------------

    async def action_leave(self) -> None:
        """Go back; at Home, quit."""
        if self.navigator.is_at_home:
            await self.action_quit()
        else:
            self.navigator.action_back()

    async def action_quit(self) -> None:
        """Quit; while runs are live, ask what becomes of those started here, and say that the others go on."""
        started_here = [run for run in self.navigator.launched if run.is_live]
        paths = {run.path for run in started_here}
        others = [line.folder for line in self.services.workspace.live if line.folder.path not in paths]
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
        said = [
            Content.assemble((number_format.plural(len(runs), "run"), "bold"), words, _names(runs))
            for runs, words in kinds
            if runs
        ]
        answer = await self.push_screen_wait(Question(Content("\n").join(said), answers))
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
    """Ring the bell and, on terminals that pass over unknown sequences, ask for a notification (OSC 9 and OSC 777)."""
    write("\a")
    if environment.get("TERM", "dumb").startswith(_PLAIN_TERMS):
        return
    write(f"\x1b]9;{_BELL_TEXT}\x1b\\")
    write(f"\x1b]777;notify;eval-console;{_BELL_TEXT}\x1b\\")


def _keys_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("eval-console", appauthor=False)) / "keys.toml"
