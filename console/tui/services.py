"""`Services`: what a screen may ask of the app. Every screen takes it as its first constructor argument.

The app's own implementation is `app_services.AppServices`; tests mount a screen with a double of their own.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, TypeVar

from textual.content import Content
from textual.screen import Screen

from console.core.case import Slot
from console.store.runs import RunFolder

if TYPE_CHECKING:
    from console.config.paths import WorkspacePaths
    from console.tui.data.draft import Draft
    from console.tui.data.run_feed import RunFeeds
    from console.tui.data.ui_state import UiState
    from console.tui.data.workspace import Workspace
    from console.tui.keymap import KeyMap

AnswerT = TypeVar("AnswerT")
CallP = ParamSpec("CallP")
Severity = Literal["information", "warning", "error"]


class Navigation(Protocol):
    """Opens screens."""

    @property
    def launched(self) -> Sequence[RunFolder]:
        """Runs started from here since the app opened."""
        ...

    @property
    def draft(self) -> "Draft | None":
        """What was filled into the form for a new run and not started; None: nothing."""
        ...

    @draft.setter
    def draft(self, draft: "Draft | None") -> None: ...

    @property
    def next_review(self) -> Path | None:
        """The run that Review opens from a screen that shows no run."""
        ...

    @property
    def marked(self) -> tuple[RunFolder, Slot | None] | None:
        """The run that was marked for Compare, and the rollout it was marked at."""
        ...

    def open_live(self, run: RunFolder) -> None:
        """Watch a run."""
        ...

    def switch_live(self, run: RunFolder) -> None:
        """Watch another run in place of the one that is watched."""
        ...

    def open_review(self, run: RunFolder, slot: Slot | None = None) -> None:
        """Look at a run's failures, with the cursor on a case if one is named."""
        ...

    def open_compare(self, a: RunFolder, b: RunFolder, slot: Slot | None = None) -> None:
        """Compare two runs, with the cursor on a case if one is named."""
        ...

    def open_grid(self, runs: list[RunFolder]) -> None:
        """Lay more than two runs side by side."""
        ...

    def open_form(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Open the form for a new run, with a model, a suite or a run's failed cases selected already."""
        ...

    def action_run_new(self) -> None:
        """Open the form for a new run, with what is under the cursor of the screen in sight."""
        ...

    def action_go_home(self) -> None:
        """Go to Home."""
        ...

    def action_go_library(self) -> None:
        """Go to the Library."""
        ...

    def mark_for_compare(self, run: RunFolder, slot: Slot | None = None) -> None:
        """Mark a run as A; the second run that is marked is compared with it."""
        ...

    def add_launched(self, runs: Sequence[RunFolder]) -> None:
        """Take up runs that were started from here just now."""
        ...


class Services(Protocol):
    """What screens may ask of the app."""

    workspace: "Workspace"
    """Models, suites and runs."""
    paths: "WorkspacePaths"
    """Where models, data and runs are."""
    ui_state: "UiState"
    """What is remembered from earlier starts."""
    key_map: "KeyMap"
    """The keys in use."""

    @property
    def navigator(self) -> Navigation:
        """Opens screens."""
        ...

    @property
    def feeds(self) -> "RunFeeds":
        """The open feeds, shared by the screens that show the same run."""
        ...

    @property
    def badge(self) -> Content:
        """The sign that runs are live, for every top line; empty when none is."""
        ...

    @property
    def has_focus(self) -> bool:
        """Whether the terminal has the focus."""
        ...

    @property
    def shows_help(self) -> bool:
        """Whether help stands beside every screen that has room for it."""
        ...

    def notify(self, text: Content, *, severity: Severity = "information") -> None:
        """Show a toast and keep it under `Messages`. Foreign parts must come through `sanitize`."""
        ...

    def refuse(self, error: Exception) -> None:
        """Say why something cannot be done. May be foreign text."""
        ...

    def copy(self, text: str, name: str) -> None:
        """Put text on the clipboard and say so. `name` is a word of ours."""
        ...

    def export_text(self, text: str, path: Path) -> None:
        """Write a text to a file of the current folder, and say where."""
        ...

    async def ask(self, dialog: Screen[AnswerT]) -> AnswerT | None:
        """Show a dialog and return its answer; must be called in a worker."""
        ...

    def from_thread(self, callback: Callable[CallP, object], *args: CallP.args, **kwargs: CallP.kwargs) -> None:
        """Call a function in the app's own thread and wait until it has returned."""
        ...

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal to another program while the context is open."""
        ...
