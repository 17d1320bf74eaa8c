"""Dialog with the history of a case: all runs that played it."""

from textual.content import Content

from console.exchange.search.case_history import CaseRun
from console.store.runs import RunFolder
from console.tui.data.filter_in_force import has_words
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.history_line import COLUMNS, history_row


class HistoryDialog(FilterDialog[CaseRun]):
    """Lists the runs with a case; returns the one to open, or None."""

    DEFAULT_CSS = """
    HistoryDialog > Vertical { width: 110; }
    """

    def __init__(self, runs: list[CaseRun], shown: RunFolder) -> None:
        super().__init__(
            HistoryRows(runs, shown), COLUMNS, hint="filter by run or model", nothing="No matching run.", grows=True
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
