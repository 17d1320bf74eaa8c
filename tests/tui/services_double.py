"""`FakeServices`: what a screen may ask of the app, without the app, for tests that mount a pane or a screen alone."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from textual.app import App
from textual.content import Content
from textual.screen import Screen
from textual.signal import Signal

from console.config.paths import WorkspacePaths
from console.core.case import Slot
from console.store.runs import RunFolder
from console.tui.data.draft import Draft
from console.tui.data.run_feed import RunFeeds
from console.tui.data.search_indexing import SearchIndexing
from console.tui.data.ui_state import UiState
from console.tui.data.workspace import Workspace
from console.tui.keymap import KeyMap
from console.tui.services import AnswerT, CallP, Severity


class FakeNavigator:
    """Notes what was opened, as `("review", run, slot)`."""

    def __init__(self) -> None:
        """Open nothing."""
        self.opened: list[tuple[Any, ...]] = []
        self.launched: list[RunFolder] = []
        self.seen_live: set[Path] = set()
        self.marked: tuple[RunFolder, Slot | None] | None = None
        self.draft: Draft | None = None

    def open_live(self, run: RunFolder) -> None:
        """Note it."""
        self.opened.append(("live", run))

    def switch_live(self, run: RunFolder) -> None:
        """Note it."""
        self.opened.append(("live", run))

    def open_review(self, run: RunFolder, slot: Slot | None = None, find: str = "") -> None:
        """Note it."""
        self.opened.append(("review", run, slot))

    def open_compare(self, a: RunFolder, b: RunFolder, slot: Slot | None = None) -> None:
        """Note it."""
        self.opened.append(("compare", a, b, slot))

    def open_suspects(self, suite: str) -> None:
        self.opened.append(("suspects", suite))

    def open_grid(self, runs: list[RunFolder]) -> None:
        """Note it."""
        self.opened.append(("grid", *runs))

    def open_form(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Note it."""
        self.opened.append(("launch", model, suite, failed_of))

    def action_run_new(self) -> None:
        """Note it."""
        self.opened.append(("launch",))

    def action_go_home(self) -> None:
        """Note it."""
        self.opened.append(("home",))

    def action_go_library(self) -> None:
        """Note it."""
        self.opened.append(("library",))

    def open_library(self, kind: str, name: str) -> None:
        """Note it."""
        self.opened.append(("library", kind, name))

    def mark_for_compare(self, run: RunFolder, slot: Slot | None = None) -> None:
        """Keep the mark."""
        self.marked = run, slot

    def add_launched(self, runs: Sequence[RunFolder]) -> None:
        """Keep the runs."""
        self.launched += runs


class FakeServices:
    """Keeps what was announced, copied, exported and asked; questions are answered with `answer`."""

    def __init__(self, app: App[Any] | None = None, paths: WorkspacePaths | None = None, answer: Any = None) -> None:
        """Offer an empty workspace; with an app, its signal and its loop are the app's."""
        self._app = app or App[Any]()
        self.paths = paths or WorkspacePaths()
        self.ui_state = UiState()
        self.key_map = KeyMap()
        changed: Signal[str] = Signal(self._app, "workspace")
        self.workspace = Workspace(self.paths, changed=changed, hand_over=self._in_loop, run_ended=lambda _: None)
        self.navigator = FakeNavigator()
        self.feeds = RunFeeds()
        self.search_indexing = SearchIndexing(self.workspace)
        self.badge = Content.empty()
        self.has_focus = True
        self.shows_help = False
        self.messages: list[Content] = []
        self.copied: list[tuple[str, str]] = []
        self.exported: list[tuple[str, Path]] = []
        self.asked: list[Screen[Any]] = []
        self.answer = answer

    def _in_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        if self._app.is_running:
            self._app.call_later(callback, *arguments)

    def notify(self, text: Content, *, severity: Severity = "information") -> None:
        """Keep a message."""
        self.messages.append(text)

    def refuse(self, error: Exception) -> None:
        """Keep a refusal as a message."""
        self.messages.append(Content(str(error)))

    def copy(self, text: str, name: str) -> None:
        """Keep a copy."""
        self.copied.append((text, name))

    def export_text(self, text: str, path: Path) -> None:
        """Keep an export."""
        self.exported.append((text, path))

    async def ask(self, dialog: Screen[AnswerT]) -> AnswerT | None:
        """Answer at once."""
        self.asked.append(dialog)
        return self.answer

    def from_thread(self, callback: Callable[CallP, object], *args: CallP.args, **kwargs: CallP.kwargs) -> None:
        """Call in the app's thread when there is one, else at once."""
        if self._app.is_running:
            self._app.call_from_thread(callback, *args, **kwargs)
        else:
            callback(*args, **kwargs)

    def suspend(self) -> AbstractContextManager[None]:
        """Suspend nothing."""
        return nullcontext()
