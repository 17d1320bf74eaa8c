"""`GridController`: which cases of several runs are listed, and which two runs a case is compared by. No Textual."""

from collections.abc import Sequence

from console.core.outcome import Outcome
from console.exchange.run_reader import RunReader
from console.insight.grid import Grid, GridRow, grid
from console.store.runs import RunFolder
from console.tui.data.filter_in_force import FilterInForce
from console.tui.render.rollout_rows import row_key


class GridController:
    """Several runs, and what is listed of their cases."""

    def __init__(self, runs: Sequence[RunFolder]) -> None:
        """List what differs; nothing is read yet."""
        self.runs = list(runs)
        self.grid: Grid | None = None
        """All runs, once they are read."""
        self.rows: dict[str, GridRow] = {}
        """What is listed, by row key, in order."""
        self._only_different = True
        self._words = ""

    def read(self) -> Grid:
        """Read all runs; call it in a thread and give `take` the result.

        Raises:
            UsageError: one of them is not a run.
            OSError: a journal cannot be read.
        """
        return grid([RunReader(run).side for run in self.runs])

    def take(self, grid: Grid) -> None:
        """Show the runs as they were read."""
        self.grid = grid
        self._list()

    def find(self, words: str) -> None:
        """List only cases with these words."""
        self._words = words
        self._list()

    def toggle_same(self) -> None:
        """List what differs, or every case."""
        self._only_different = not self._only_different
        self._list()

    def list_different(self) -> None:
        self._only_different = True
        self._list()

    def _list(self) -> None:
        words = self._words.casefold().split()
        self.rows = {
            row_key(row.slot): row
            for row in (self.grid.rows if self.grid is not None else ())
            if (row.differs or not self._only_different)
            and all(word in f"{row.slot[0]} {row.category}".casefold() for word in words)
        }

    @property
    def filter_in_force(self) -> FilterInForce | None:
        """The words that narrow the list, and how many of the cases that would be listed have them."""
        if not self._words:
            return None
        rows = self.grid.rows if self.grid is not None else ()
        return FilterInForce(self._words, len(self.rows), sum(row.differs or not self._only_different for row in rows))

    @property
    def status(self) -> str:
        """How many cases differ, in words."""
        rows = self.grid.rows if self.grid is not None else ()
        return f"{sum(row.differs for row in rows)} of {len(rows)} differ"

    @property
    def empty_words(self) -> str:
        """What is said when no case is listed."""
        return "Nothing matches. F clears the filter." if self._words.split() else "No case differs. f lists all."

    def pair_for(self, row: GridRow) -> tuple[RunFolder, RunFolder] | None:
        """Return the first run that passed a case and the first that did not; else the first two that played it."""
        outcomes = list(zip(self.runs, row.outcomes, strict=True))
        passed = [run for run, outcome in outcomes if outcome is Outcome.PASSED]
        others = [run for run, outcome in outcomes if outcome not in (None, Outcome.PASSED)]
        pair = [passed[0], others[0]] if passed and others else [*passed, *others][:2]
        return (pair[0], pair[1]) if len(pair) == 2 else None
