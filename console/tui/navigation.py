"""`Navigator`: opens screens and remembers the way back. Owned by the app; screens reach it through `Services`."""

import importlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from textual.app import App
from textual.content import Content
from textual.screen import Screen

from console.config.paths import find_runs_root
from console.core.case import Slot
from console.store.run_list import find_run
from console.store.runs import RunFolder
from console.tui.data.draft import Draft, draft_place, keep_draft, kept_draft
from console.tui.data.runs import RunLine, last_failures, newest_of_models
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.textual_patches import start_in_mode

if TYPE_CHECKING:
    from console.tui.dialogs.finder import JumpTarget

SCREENS = {
    "home": "console.tui.screens.home.screen:HomeScreen",
    "library": "console.tui.screens.library.screen:LibraryScreen",
    "launch": "console.tui.screens.launch.screen:LaunchScreen",
    "live": "console.tui.screens.live.screen:LiveScreen",
    "review": "console.tui.screens.review.screen:ReviewScreen",
    "compare": "console.tui.screens.compare.screen:CompareScreen",
    "grid": "console.tui.screens.grid.screen:GridScreen",
    "board": "console.tui.screens.leaderboard.screen:LeaderboardScreen",
    "trends": "console.tui.screens.trends.screen:TrendsScreen",
    "search": "console.tui.screens.search.screen:SearchScreen",
}
"""Screens by their name in the action table; each is imported when first opened, to keep startup fast."""
LOADED_AHEAD = ("live", "review")
"""Screens likely to be opened next, imported in the background."""
HOME = "home"
_IN_GRID = 3, 4
"""Minimum and maximum number of runs in a grid opened without a selection."""
LONGEST_WAY_BACK = 8
"""Maximum number of screens between the current one and Home; each may hold a whole run in memory."""


class OpenedRuns(NamedTuple):
    """A screen and the runs it was opened for."""

    screen: str
    """Name in the action table."""
    runs: tuple[Path, ...]
    """Folders of the runs."""
    slot: Slot | None = None
    """The rollout to start at."""


def screen_class(name: str) -> Any:
    """Import the class of a screen."""
    module, _, class_name = SCREENS[name].partition(":")
    return getattr(importlib.import_module(module), class_name)


def load_screens() -> None:
    """Import the screens likely to be opened next; call it in a thread, to stay responsive."""
    for name in LOADED_AHEAD:
        screen_class(name)


class Navigator:
    """Opens screens and remembers the way back; implements `services.Navigation`.

    Each screen is one of the app's modes, created when first opened, except the form for a new run, which is pushed on
    top of a screen.
    """

    def __init__(self, app: App[Any], services: Services) -> None:
        self._app = app
        self._services = services
        self._way_back: list[str] = []
        """Modes that escape goes back through before Home, most recent last, without duplicates."""
        self._opened: dict[str, OpenedRuns] = {}
        """Modes of screens that show particular runs."""
        self._latest: dict[str, str] = {}
        """Last opened mode of each screen."""
        self._numbers = itertools.count(1)
        self._single: set[str] = set()
        """Modes of screens that have a single instance."""
        self._is_review_renewed = False
        self.launched: list[RunFolder] = []
        self.seen_live: set[Path] = set()
        self.marked: tuple[RunFolder, Slot | None] | None = None
        self._draft_place = draft_place(services.paths)
        self._draft = kept_draft(services.ui_state, self._draft_place)
        self._add_once(HOME)

    @property
    def draft(self) -> Draft | None:
        """Draft of the form for a new run, if any; persisted across starts."""
        return self._draft

    @draft.setter
    def draft(self, draft: Draft | None) -> None:
        self._draft = draft
        keep_draft(draft, self._services.ui_state, self._draft_place)

    def start_with(self, screen: str, name: str, case: str = "") -> None:
        """Make the app start with Live or Review of a run (and case) instead of Home; call it before the app runs.

        Raises:
            UsageError: there is no such run.
        """
        run = find_run(find_runs_root(self._services.paths.runs, may_be_new=True), name)
        self._services.ui_state.keep("run", run.name)
        start_in_mode(self._app, self._add_run_mode(screen, run, (case, 0) if case else None))

    # Modes -----------------------------------------------------------------------------------------------------------

    @property
    def _shown_run(self) -> RunFolder | None:
        screen = self._app.screen
        return screen.shown_run if isinstance(screen, BaseScreen) else None

    def _add_mode(self, mode: str, make: Callable[[], Screen[Any]]) -> None:
        cast(Any, self._app).add_mode(mode, make)  # typed by Textual without the argument of `Screen`

    def _add_once(self, name: str) -> None:
        if name not in self._single:
            self._single.add(name)
            self._add_mode(name, lambda: screen_class(name)(self._services))

    def _add_opened(self, opened: OpenedRuns, make: Callable[[], Screen[Any]]) -> str:
        """Add a mode for a screen that shows particular runs."""
        mode = f"{opened.screen} {next(self._numbers)}"
        self._opened[mode], self._latest[opened.screen] = opened, mode
        self._add_mode(mode, make)
        return mode

    def _show(self, mode: str, *, in_place: bool = False) -> None:
        """Switch to a mode; escape then returns to the current one, unless it is replaced `in_place`."""
        present = self._app.current_mode
        if mode == present:
            return
        if not in_place and present != HOME:
            self._way_back.append(present)
        self._way_back = [other for other in self._way_back if other != mode][-LONGEST_WAY_BACK:]
        self._switch(mode)

    def _switch(self, mode: str) -> None:
        """Show a mode and remove those no longer reachable."""
        if mode in self._opened:
            self._latest[self._opened[mode].screen] = mode
        self._app.switch_mode(mode)
        if not any(other.startswith("live ") for other in (mode, *self._way_back)):
            self.seen_live.clear()
        needed = {mode, *self._way_back, *self._latest.values()}
        for other in [other for other in self._opened if other not in needed]:
            del self._opened[other]
            self._app.remove_mode(other)

    def _find_opened(self, opened: OpenedRuns) -> str | None:
        """Return the latest mode that shows these runs on this screen, if any."""
        modes = [mode for mode, other in self._opened.items() if other[:2] == opened[:2]]
        return modes[-1] if modes else None

    def _go_to(self, name: str) -> None:
        self._add_once(name)
        self._show(name)

    # Screens of one run ----------------------------------------------------------------------------------------------

    def open_live(self, run: RunFolder) -> None:
        self._open("live", run, None)

    def switch_live(self, run: RunFolder) -> None:
        """Watch another run in place of the current one; escape returns to where that one was opened."""
        self._open("live", run, None, in_place=True)

    def open_review(self, run: RunFolder, slot: Slot | None = None, find: str = "") -> None:
        self._open("review", run, slot, find)

    def _open(self, name: str, run: RunFolder, slot: Slot | None, find: str = "", *, in_place: bool = False) -> None:
        """Show a run's existing screen, or a new one if a rollout is given, and remember the run as the last viewed."""
        self._services.ui_state.keep("run", run.name)
        mode = self._find_opened(OpenedRuns(name, (run.path,))) if slot is None else None
        self._show(mode or self._add_run_mode(name, run, slot, find), in_place=in_place)

    def _add_run_mode(self, name: str, run: RunFolder, slot: Slot | None, find: str = "") -> str:
        arguments = (run,) if slot is None else (run, slot, find) if find else (run, slot)
        opened = OpenedRuns(name, (run.path,), slot)
        return self._add_opened(opened, lambda: screen_class(name)(self._services, *arguments))

    def action_go_live(self) -> None:
        """Watch the shown run, else the one watched last (unless only other runs are live), else the latest."""
        live = self._services.workspace.live
        mode = self._latest.get("live")
        if self._shown_run is None and mode is not None and live:
            watched = self._opened[mode].runs[0]
            if all(line.folder.path != watched for line in live):
                self.open_live(live[0].folder)
                return
        if not self._go("live", [*live, *self._last_first()]):
            self._services.notify(Content("No run is live, and none has been run yet. L starts one."))

    def renew_review(self) -> None:
        """Make the key of Review open the latest failures instead of the run reviewed last, since a run has ended."""
        self._is_review_renewed = True

    def action_go_review(self) -> None:
        """Review the shown run; else from Home the last failures, from elsewhere the run reviewed last."""
        failed = last_failures(self._services.workspace.runs or ())
        is_new = self.is_at_home or self._is_review_renewed or "review" not in self._latest
        if failed is not None and self._shown_run is None and is_new:
            self._is_review_renewed = False
            self.open_review(failed[0].folder)
        elif not self._go("review", self._last_first()):
            self._services.notify(Content("There is no run to review yet. L starts one."))

    def _go(self, name: str, candidates: Sequence[RunLine]) -> bool:
        """Show a single-run screen; return False if there is no run for it."""
        readable = (line.folder for line in candidates if line.summary is not None and not line.is_queued)
        if (shown := self._shown_run) is not None:
            self._open(name, shown, None)
        elif (mode := self._latest.get(name)) is not None:
            self._show(mode)
        elif (run := next(readable, None)) is not None:
            self._open(name, run, None)
        else:
            return False
        return True

    def _last_first(self) -> list[RunLine]:
        """Return all runs, the last viewed one first."""
        last = self._services.ui_state.text("run")
        return sorted(self._services.workspace.runs or [], key=lambda line: line.name != last)

    # Screens of several runs -----------------------------------------------------------------------------------------

    def mark_for_compare(self, run: RunFolder, slot: Slot | None = None) -> None:
        if self.marked is None:
            self.marked = run, slot
            self._services.notify(Content("Marked as A; m on another run compares it with this one."))
            return
        (first, at), self.marked = self.marked, None
        if first.path == run.path:
            self._services.notify(Content("No longer marked for compare."))
        else:
            self.open_compare(first, run, slot or at)

    def open_compare(self, a: RunFolder, b: RunFolder, slot: Slot | None = None) -> None:
        self._app.clear_notifications()  # such as the request to mark the second run
        opened = OpenedRuns("compare", (a.path, b.path), slot)
        mode = self._find_opened(opened)
        if mode is None or (slot is not None and self._opened[mode] != opened):
            mode = self._add_opened(opened, lambda: screen_class("compare")(self._services, a, b, slot))
        self._show(mode)

    def open_grid(self, runs: list[RunFolder]) -> None:
        opened = OpenedRuns("grid", tuple(run.path for run in runs))
        mode = self._find_opened(opened)
        self._show(mode or self._add_opened(opened, lambda: screen_class("grid")(self._services, runs)))

    def open_suspects(self, suite: str) -> None:
        self.open_grid(newest_of_models(self._services.workspace.runs or [], suite))
        from console.tui.screens.grid.screen import GridScreen  # lazy, as every screen

        if isinstance(screen := self._app.screen, GridScreen):
            screen.show_suspects()

    def action_go_compare(self) -> None:
        """Return to the last comparison, or compare the newest two runs of one suite."""
        if (mode := self._latest.get("compare")) is not None:
            self._show(mode)
            return
        newest = newest_alike(self._services.workspace.runs or [], 2, 2)
        if not newest:
            self._services.notify(Content("There are no two runs of one suite yet. m on Home marks runs to compare."))
        else:
            self.open_compare(newest[1].folder, newest[0].folder)

    def action_go_grid(self) -> None:
        """Return to the last grid, or show the newest runs of one suite side by side."""
        if (mode := self._latest.get("grid")) is not None:
            self._show(mode)
        elif newest := newest_alike(self._services.workspace.runs or [], *_IN_GRID):
            self.open_grid([line.folder for line in reversed(newest)])
        else:
            self._services.notify(Content("There are no three runs of one suite yet. + in Compare adds a run."))

    def action_go_board(self) -> None:
        self._go_to("board")

    def action_go_trends(self) -> None:
        self._go_to("trends")

    def action_go_search(self) -> None:
        self._go_to("search")
        from console.tui.screens.search.screen import SearchScreen  # lazy, as every screen

        if isinstance(screen := self._app.screen, SearchScreen):
            screen.ask_again()

    # Home, library, form ---------------------------------------------------------------------------------------------

    def action_go_home(self) -> None:
        self._way_back.clear()
        self._switch(HOME)
        while len(self._app.screen_stack) > 1:  # a form still open
            self._app.pop_screen()

    def action_go_library(self) -> None:
        self._go_to("library")

    def open_library(self, kind: Literal["model", "suite"], name: str) -> None:
        """Open Library with the cursor on a model or suite."""
        self._go_to("library")
        from console.tui.screens.library.screen import LibraryScreen  # lazy, as every screen

        if isinstance(screen := self._app.screen, LibraryScreen):
            screen.go_to_entry(kind, name)

    def action_run_new(self) -> None:
        """Open the form for a new run, with the model or suite under the cursor."""
        screen = self._app.screen
        model, suite = screen.run_offer if isinstance(screen, BaseScreen) else ("", "")
        self.open_form(model=model, suite=suite)

    def open_form(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        form = screen_class("launch")
        if not isinstance(self._app.screen, form):
            self._app.push_screen(form(self._services, model=model, suite=suite, failed_of=failed_of))

    def add_launched(self, runs: Sequence[RunFolder]) -> None:
        for run in reversed(runs):
            self.launched.append(run)
            self.seen_live.add(run.path)
            self._services.workspace.expect(run)

    # Back and jumps --------------------------------------------------------------------------------------------------

    @property
    def is_at_home(self) -> bool:
        """True if there is no screen to go back to."""
        return self._app.current_mode == HOME and len(self._app.screen_stack) == 1

    def action_back(self) -> None:
        """Go back one step: within the screen, then to the previous screen, finally to Home."""
        screen = self._app.screen
        if isinstance(screen, BaseScreen) and screen.go_back():
            return
        if len(self._app.screen_stack) > 1:
            self._app.pop_screen()
        elif self._app.current_mode != HOME:
            self._switch(self._way_back.pop() if self._way_back else HOME)

    def action_jump(self) -> None:
        """Open the finder for runs, and for cases of the shown or last viewed run."""
        from console.tui.dialogs.finder import Finder

        readable = [line.folder for line in self._last_first() if line.summary is not None]
        if isinstance(self._app.screen, BaseScreen):
            run = self._shown_run or (readable[0] if readable else None)
            self._app.push_screen(Finder(self._services.workspace, run), self._jump)

    def _jump(self, target: "JumpTarget | None") -> None:
        if target is not None and not target.case and target.run.is_live:
            self.open_live(target.run)
        elif target is not None:
            self.open_review(target.run, (target.case, target.repeat) if target.case else None)


def newest_alike(runs: Sequence[RunLine], least: int, most: int) -> list[RunLine]:
    """Return the newest graded runs of one suite, excluding branches, that share a category with the newest of them.

    Args:
        runs: candidates, newest first.
        least: minimum number of runs; with fewer, the result is empty.
        most: maximum number of runs.
    """
    graded = [line for line in runs if line.summary is not None and line.tally.graded and not line.is_branch]
    for index, line in enumerate(graded):
        alike = [line, *(other for other in graded[index + 1 :] if _share_category(line, other))]
        if len(alike) >= least:
            return alike[:most]
    return []


def _share_category(line: RunLine, other: RunLine) -> bool:
    a, b = line.summary, other.summary
    return a is not None and b is not None and a.suite == b.suite and bool(set(a.categories) & set(b.categories))
