"""Histories of the cases in Review, read in a thread for the line above the case."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from console.tui.data.case_reads import SuiteThread

if TYPE_CHECKING:
    from console.exchange.search.case_history import CaseRun

CaseName = tuple[str, str]
"""Suite and case id."""


class CaseHistories:
    """Histories of cases, read once until the index changes."""

    def __init__(
        self,
        root: Path,
        when_idle: Callable[[Callable[[], None]], object],
        in_loop: Callable[[Callable[[], None]], object],
        arrived: Callable[[], None],
    ) -> None:
        """Start without any.

        Args:
            root: the runs folder.
            when_idle: schedules a call after the case has been drawn.
            in_loop: schedules a call in the event loop; thread-safe.
            arrived: called in that loop when a history that `get` did not have has been read.
        """
        self._root = root
        self._when_idle, self._in_loop, self._arrived = when_idle, in_loop, arrived
        self._thread = SuiteThread()
        self._histories: dict[CaseName, list[CaseRun]] = {}
        self._current: set[CaseName] = set()
        """Cases whose history is up to date, or is being read."""

    def get(self, case: CaseName) -> "list[CaseRun]":
        """Return the runs with a case, newest first; empty until they are read."""
        if case not in self._current:
            self._current.add(case)
            self._when_idle(partial(self._start, case))
        return self._histories.get(case, [])

    def _start(self, case: CaseName) -> None:
        future = self._thread.start(partial(_read, self._root, *case))
        future.add_done_callback(lambda done: self._in_loop(partial(self._keep, case, done)))

    def _keep(self, case: CaseName, done: "Future[list[CaseRun]]") -> None:
        before, self._histories[case] = self._histories.get(case, []), done.result()
        if before != done.result():
            self._arrived()

    def forget(self) -> None:
        """Reread histories on request, because the index has changed; the old ones are returned until then."""
        self._current.clear()

    def close(self) -> None:
        self._thread.close()


def _read(root: Path, suite: str, case: str) -> "list[CaseRun]":
    # imported here, as the case is shown before its history
    from console.exchange.search.case_history import case_history
    from console.exchange.search.hits import NoIndex, Search

    try:
        with Search(root) as search:
            return case_history(search, suite, case)
    except NoIndex:
        return []
