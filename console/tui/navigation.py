"""`RunNavigation`: how the app opens the places of one run, and goes from place to place; a part of the app's class."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from textual.content import Content
from textual.screen import Screen

from console.core.fault import UsageError
from console.store.runs import RunFolder, find_run
from console.tui.data.catalog_items import RunLine, runs_root
from console.tui.data.ui_state import UiState
from console.tui.sanitize import literal
from console.tui.screens.base import BaseScreen
from console.tui.screens.compare.opening import CompareNavigation

SCREENS_OF_RUNS = {
    "live": "console.tui.screens.live.screen:LiveScreen",
    "review": "console.tui.screens.review.screen:ReviewScreen",
}
"""Screens that show one run, imported when first opened."""


def load_screens() -> None:
    """Import what a reader is likely to open next; in a thread, so that keys go first."""
    for screen in SCREENS_OF_RUNS.values():
        importlib.import_module(screen.partition(":")[0])


class RunNavigation(CompareNavigation):
    """Opens places; see the module."""

    memory: UiState
    """What is remembered from earlier starts."""
    launched: list[RunFolder]
    """Runs started from here since the app opened."""

    def __init__(self) -> None:
        """Open nothing yet."""
        super().__init__()
        self._modes_of: dict[str, tuple[str, Path]] = {}
        self._first: tuple[str, str] = ("", "")

    def open_first(self, run: str, case: str = "") -> None:
        """Name a run (and case) to open as soon as the app is up."""
        self._first = (run, case)

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

    # Places ----------------------------------------------------------------------------------------------------------

    def open_live(self, run: RunFolder) -> None:
        """Watch a run."""
        self._open("live", run, None)

    def open_review(self, run: RunFolder, key: str | None = None) -> None:
        """Look at a run's failures, with the cursor on a case if one is named."""
        self._open("review", run, key)

    def _open(self, place: str, run: RunFolder, key: str | None) -> None:
        """Switch to the place's screen of this run; make it when another run is shown there so far."""
        self.memory.keep("run", run.name)
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

    def action_go_library(self) -> None:
        """Go to the models and suites."""
        self.switch_mode("library")

    def action_go_live(self) -> None:
        """Watch the run that is on the screen, else the one watched before, else the newest live one."""
        self._go("live", self.workspace.live, Content("No run is live. L starts one."))

    def action_go_review(self) -> None:
        """Review the run that is on the screen, else the one reviewed before, else the newest one."""
        self._go("review", self._last_first(), Content("There is no run to review yet. L starts one."))

    def _go(self, place: str, candidates: Sequence[RunLine], otherwise: Content) -> None:
        shown: RunFolder | None = getattr(self.screen, "run_folder", None)
        if shown is not None:
            self._open(place, shown, None)
        elif (known := self._modes_of.get(place)) is not None:
            self.switch_mode(known[0])
        elif candidates:
            self._open(place, candidates[0].folder, None)
        else:
            self.say(otherwise)

    @property
    def next_review(self) -> Path | None:
        """The run that Review opens from a place that shows no run."""
        if (known := self._modes_of.get("review")) is not None:
            return known[1]
        return next((line.folder.path for line in self._last_first()), None)

    def _last_first(self) -> list[RunLine]:
        """Return all runs, the one that was looked at last before the others."""
        last = self.memory.text("run")
        return sorted(self.workspace.runs or [], key=lambda line: line.name != last)

    def action_run_new(self) -> None:
        """Open the form for a new run, with what is under the cursor where that can be run."""
        model, suite = self.screen.run_offer if isinstance(self.screen, BaseScreen) else ("", "")
        self.open_form(model=model, suite=suite)

    def open_form(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Open the form for a new run, with a model or suite selected already."""
        from console.tui.screens.launch.screen import LaunchScreen

        if not isinstance(self.screen, LaunchScreen):
            self.push_screen(LaunchScreen(model=model, suite=suite, failed_of=failed_of))

    def take_launched(self, runs: Sequence[RunFolder]) -> None:
        """Take up runs that were started from here just now."""
        for run in reversed(runs):
            self.launched.append(run)
            self.workspace.expect(run)
