"""The history of a case in Review: its outcomes in all indexed runs of the suite."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from console.store.runs import RunFolder
from console.tui.data.case_reads import LateReads
from console.tui.keymap import find_action
from console.tui.screens.review.case_actions import StartWorker
from console.tui.screens.review.controller import ReviewController
from console.tui.services import Services

if TYPE_CHECKING:
    from console.exchange.search.case_history import CaseRun

CaseName = tuple[str, str]
"""Suite and case id."""


def read_history(root: Path, case: CaseName) -> "list[CaseRun]":
    """Return the runs with a case, newest first; empty if there is no index."""
    # imported here, as the case is shown before its history
    from console.exchange.search.case_history import case_history
    from console.exchange.search.hits import NoIndex, Search

    try:
        with Search(root) as search:
            return case_history(search, *case)
    except NoIndex:
        return []


@dataclass(frozen=True)
class HistoryActions:
    """Shows the history of the current case, and opens Review at another run of it."""

    services: Services
    run: RunFolder
    controller: ReviewController
    histories: "LateReads[CaseName, list[CaseRun]]"
    start: StartWorker
    """Starts a dialog."""

    @property
    def _runs(self) -> "list[CaseRun]":
        feed, current = self.controller.run, self.controller.cursor.slot
        return [] if feed is None or current is None else self.histories.get((feed.manifest.suite, current[0]))

    def line(self, width: int) -> Content:
        """Return the history in one line of N cells; empty if no run of the case has been indexed."""
        runs, feed = self._runs, self.controller.run
        if not runs or feed is None:
            return Content.empty()
        from console.tui.render.history_line import history_line  # only once a history has been read

        action = find_action("history", "review")
        key = self.services.key_map.shown(action) if action is not None else ""
        return history_line(runs, self.run, feed.manifest.model.name, key, width)

    def action_history(self) -> None:
        if self._runs:
            self.start(self._choose(), group="history")
            return
        self.services.notify(Content("No run of this case has been indexed yet."))
        self.services.search_indexing.update()

    async def _choose(self) -> None:
        from console.tui.dialogs.history_dialog import HistoryDialog

        chosen = await self.services.ask(HistoryDialog(self._runs, self.run))
        if chosen is not None and chosen.folder.path != self.run.path:
            self.services.navigator.open_review(chosen.folder, chosen.rollouts[0].slot)
