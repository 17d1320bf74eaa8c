"""History of a case in Review: read in a thread for the line above the case, and listed in a dialog."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from textual.content import Content

from console.exchange.search.case_history import CaseRun, case_history
from console.exchange.search.hits import NoIndex, Search
from console.store.runs import RunFolder
from console.tui.data.case_reads import SuiteThread
from console.tui.data.filter_in_force import has_words
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.history_line import COLUMNS, history_row

CaseName = tuple[str, str]
"""Suite and case id."""


class CaseHistories:
    """Histories of cases, read once until the index changes."""

    def __init__(
        self, root: Path, in_loop: Callable[[Callable[[], None]], object], arrived: Callable[[], None]
    ) -> None:
        """Start without any.

        Args:
            root: the runs folder.
            in_loop: schedules a call in the event loop; thread-safe.
            arrived: called in that loop when a history that `get` did not have has been read.
        """
        self._root = root
        self._in_loop, self._arrived = in_loop, arrived
        self._thread = SuiteThread()
        self._histories: dict[CaseName, list[CaseRun]] = {}
        self._current: set[CaseName] = set()
        """Cases whose history is up to date, or is being read."""

    def get(self, case: CaseName) -> list[CaseRun]:
        """Return the runs with a case, newest first; empty until they are read."""
        if case not in self._current:
            self._current.add(case)
            future = self._thread.start(partial(_read, self._root, *case))
            future.add_done_callback(lambda done: self._in_loop(partial(self._keep, case, done)))
        return self._histories.get(case, [])

    def _keep(self, case: CaseName, done: "Future[list[CaseRun]]") -> None:
        before, self._histories[case] = self._histories.get(case, []), done.result()
        if before != done.result():
            self._arrived()

    def forget(self) -> None:
        """Reread histories on request, because the index has changed; the old ones are returned until then."""
        self._current.clear()

    def close(self) -> None:
        self._thread.close()


def _read(root: Path, suite: str, case: str) -> list[CaseRun]:
    try:
        with Search(root) as search:
            return case_history(search, suite, case)
    except NoIndex:
        return []


class HistoryDialog(FilterDialog[CaseRun]):
    """Lists the runs with a case; returns the one to open, or None."""

    DEFAULT_CSS = """
    HistoryDialog > Vertical { width: 110; }
    """

    def __init__(self, runs: list[CaseRun], shown: RunFolder) -> None:
        super().__init__(
            HistoryRows(runs, shown), COLUMNS, hint="a word of a run or model", nothing="No matching run.", grows=True
        )


class HistoryRows:
    """The runs with a case as rows of a dialog."""

    def __init__(self, runs: list[CaseRun], shown: RunFolder) -> None:
        self._runs = {run.folder.name: run for run in runs}
        self._shown = shown
        self._digest = next((run.digest for run in runs if run.folder.path == shown.path), runs[0].digest)

    def narrowed(self, text: str) -> list[str]:
        return [name for name, run in self._runs.items() if has_words(text, name, run.facts.model, run.facts.title)]

    def draw_row(self, key: str) -> tuple[Content, ...]:
        return history_row(self._runs[key], self._digest, self._shown)

    def answer(self, key: str) -> CaseRun:
        return self._runs[key]
