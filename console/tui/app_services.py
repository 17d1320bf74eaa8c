"""`AppServices`: the app's implementation of `Services`."""

import asyncio
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.content import Content
from textual.screen import Screen
from textual.signal import Signal

from console.config.paths import WorkspacePaths
from console.insight import number_format
from console.tui.data.runs import RunLine
from console.tui.data.ui_state import UiState
from console.tui.data.workspace import Workspace
from console.tui.exports import Exports
from console.tui.keymap import KeyMap
from console.tui.navigation import Navigator
from console.tui.sanitize import literal
from console.tui.screens.base import below_dialogs
from console.tui.services import AnswerT, CallP, Severity
from console.tui.symbols import SYMBOLS

if TYPE_CHECKING:
    from console.tui.data.run_feed import RunFeeds
    from console.tui.data.search_indexing import SearchIndexing


SAME_MOMENT_S = 0.3
"""Seconds within which notifications are shown together."""


class AppServices:
    """Implements `services.Services`."""

    def __init__(
        self,
        app: App[Any],
        paths: WorkspacePaths,
        ui_state: UiState,
        key_map: KeyMap,
        run_ended: Callable[[RunLine], None],
    ) -> None:
        """Create the services; `run_ended` is called for each live run that ends."""
        self._app = app
        self.paths = paths
        self.ui_state = ui_state
        self.key_map = key_map
        changed: Signal[str] = Signal(app, "workspace")
        self.workspace = Workspace(paths, changed=changed, hand_over=self._in_loop, run_ended=run_ended)
        self.navigator = Navigator(app, self)
        self.exports = Exports(app, self)
        self._feeds: RunFeeds | None = None
        self._search_indexing: SearchIndexing | None = None
        self._notified_at = -SAME_MOMENT_S
        self.messages: list[Content] = []
        """All notifications, oldest first."""
        self.shows_help = False

    def _in_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call a function in the app's loop, unless the app is exiting."""
        if self._app.is_running:
            self._app.call_later(callback, *arguments)

    @property
    def feeds(self) -> "RunFeeds":
        if self._feeds is None:
            from console.tui.data.run_feed import RunFeeds

            self._feeds = RunFeeds()
        return self._feeds

    @property
    def search_indexing(self) -> "SearchIndexing":
        if self._search_indexing is None:
            from console.tui.data.search_indexing import SearchIndexing

            self._search_indexing = SearchIndexing(self.workspace)
        return self._search_indexing

    @property
    def has_focus(self) -> bool:
        return self._app.app_focus

    @property
    def badge(self) -> Content:
        live = self.workspace.live
        if not live:
            return Content.empty()
        planned = sum(line.summary.planned for line in live if line.summary)
        share = sum(line.tally.finished for line in live) / planned if planned else 0.0
        if self._app.size.width < 120:
            return Content.styled(f"{SYMBOLS.live} {share:.0%}", "bold $live")
        # Live shows the cost itself, up to the last reply; here only finished conversations count.
        screen = below_dialogs(self._app)
        is_cost_shown = screen is not None and screen.where == "live"
        is_paid = not is_cost_shown and any(line.summary and not line.summary.simulated for line in live)
        cost = f"  {_spent(live)}" if is_paid else ""
        return Content.assemble(
            (f"{SYMBOLS.live} {number_format.plural(len(live), 'run')} live", "bold $live"), f"  {share:.0%}{cost}"
        )

    def notify(self, text: Content, *, severity: Severity = "information") -> None:
        """Show a toast that replaces earlier ones, except those of the same moment, such as when several runs end."""
        now = time.monotonic()
        is_same_moment = now - self._notified_at <= SAME_MOMENT_S
        if is_same_moment and self.messages and self.messages[-1].plain == text.plain:
            return
        self.messages.append(text)
        if not is_same_moment:
            self._app.clear_notifications()
        self._notified_at = now
        self._app.notify(text.plain, severity=severity, timeout=max(4, len(text.plain) / 15), markup=False)

    def refuse(self, error: Exception) -> None:
        self.notify(literal(str(error), 600), severity="error")

    def copy(self, text: str, name: str) -> None:
        """Copy text without control characters to the clipboard, and confirm. `name` is trusted."""
        from console.core.text import without_hidden
        from console.tui.desktop import clipboard_program

        self._app.copy_to_clipboard(without_hidden(text))
        program = [] if self._app.is_web else clipboard_program(os.environ)
        self.notify(Content(f"Copied {name} ({f'by {program[0]}' if program else 'through the terminal, OSC 52'})."))

    def export_text(self, text: str, path: Path) -> None:
        self.exports.export_text(text, path)

    async def ask(self, dialog: Screen[AnswerT]) -> AnswerT | None:
        # Not push_screen_wait: it closes the last dialog in this worker, and cancelling that would end the app.
        return await asyncio.shield(self._app.push_screen(dialog, wait_for_dismiss=True))

    def from_thread(self, callback: Callable[CallP, object], *args: CallP.args, **kwargs: CallP.kwargs) -> None:
        self._app.call_from_thread(callback, *args, **kwargs)

    @contextmanager
    def suspend(self) -> Generator[None]:
        """Give the terminal to another program; Textual would not take it back after an exception."""
        raised: Exception | None = None
        with self._app.suspend():
            try:
                yield
            except Exception as error:
                raised = error
        if raised is not None:
            raise raised


def _spent(live: Sequence[RunLine]) -> str:
    """Return the cost of runs so far; a lower bound if part of it is unknown, `cost ?` if all is."""
    cost_usd = sum(line.tally.cost_usd for line in live)
    is_partial = any(line.tally.cost_unknown for line in live)
    return number_format.money(cost_usd, at_least=is_partial) if cost_usd or not is_partial else "cost ?"
