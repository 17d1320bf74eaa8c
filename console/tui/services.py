"""`Services`: the app's interface for screens, the first constructor argument of each.

Implemented by `app_services.AppServices`, and in tests by a double.
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
    from console.tui.data.search_indexing import SearchIndexing
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
    def seen_live(self) -> set[Path]:
        """Folders of the runs that were live since Live was opened, which keeps them listed."""
        ...

    @property
    def draft(self) -> "Draft | None":
        """The unstarted contents of the form for a new run, if any."""
        ...

    @draft.setter
    def draft(self, draft: "Draft | None") -> None: ...

    @property
    def marked(self) -> tuple[RunFolder, Slot | None] | None:
        """The run marked for Compare, and the rollout under the cursor at that time."""
        ...

    def open_live(self, run: RunFolder) -> None:
        """Watch a run in Live."""
        ...

    def switch_live(self, run: RunFolder) -> None:
        """Watch another run in place of the current one."""
        ...

    def open_review(self, run: RunFolder, slot: Slot | None = None, find: str = "") -> None:
        """Open a run in Review, with the cursor on a rollout if given, and at a text to be found in it."""
        ...

    def open_compare(self, a: RunFolder, b: RunFolder, slot: Slot | None = None) -> None:
        """Compare two runs, with the cursor on a rollout if given."""
        ...

    def open_grid(self, runs: list[RunFolder]) -> None:
        """Show more than two runs side by side."""
        ...

    def open_suspects(self, suite: str) -> None:
        """List the cases of a suite whose keys are suspect, from the newest run of each model."""
        ...

    def open_form(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Open the form for a new run, with a model, a suite or a run's failed cases preselected."""
        ...

    def action_run_new(self) -> None:
        """Open the form for a new run, with the model or suite under the cursor."""
        ...

    def action_go_home(self) -> None: ...

    def action_go_library(self) -> None: ...

    def open_library(self, kind: Literal["model", "suite"], name: str) -> None:
        """Open Library with the cursor on a model or suite."""
        ...

    def mark_for_compare(self, run: RunFolder, slot: Slot | None = None) -> None:
        """Mark a run as A for Compare, or compare it with the previously marked one."""
        ...

    def add_launched(self, runs: Sequence[RunFolder]) -> None:
        """Record runs just started from this app."""
        ...


class Services(Protocol):
    """The app's interface for screens."""

    workspace: "Workspace"
    paths: "WorkspacePaths"
    ui_state: "UiState"
    key_map: "KeyMap"

    @property
    def navigator(self) -> Navigation: ...

    @property
    def feeds(self) -> "RunFeeds":
        """The open feeds, shared by the screens that show the same run."""
        ...

    @property
    def search_indexing(self) -> "SearchIndexing":
        """Keeps the search index up to date."""
        ...

    @property
    def badge(self) -> Content:
        """Indicator of live runs for the top line; empty if there are none."""
        ...

    @property
    def has_focus(self) -> bool:
        """True if the terminal has the focus."""
        ...

    @property
    def shows_help(self) -> bool:
        """True if help is shown next to every screen with room for it."""
        ...

    def notify(self, text: Content, *, severity: Severity = "information") -> None:
        """Show a toast and record it under `Messages`. Untrusted parts must be sanitized."""
        ...

    def refuse(self, error: Exception) -> None:
        """Show an error as a toast. Its text may be untrusted."""
        ...

    def copy(self, text: str, name: str) -> None:
        """Copy text to the clipboard and confirm with a toast. `name` is trusted."""
        ...

    def export_text(self, text: str, path: Path) -> None:
        """Write text to a file in the current folder and report its path."""
        ...

    async def ask(self, dialog: Screen[AnswerT]) -> AnswerT | None:
        """Show a dialog and return its result; must be called in a worker."""
        ...

    def from_thread(self, callback: Callable[CallP, object], *args: CallP.args, **kwargs: CallP.kwargs) -> None:
        """Call a function in the app's thread and wait until it has returned."""
        ...

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal to another program while the context is open."""
        ...
