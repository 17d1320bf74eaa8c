"""The list of runs, with every empty and damaged state said in a sentence, and what there is to say of one run."""

import time
from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.widgets import Static

from console.core.annotation import annotation_counts
from console.insight import number_format
from console.store.notes import Notes
from console.tui.data.catalog_items import RunLine
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.controller import RunListing
from console.tui.widgets.row_list import Face, RowList
from console.tui.widgets.titles import ListTitle

_EMPTY = Content("Nothing has been run yet.\nEnter on Try the demo shows everything without a key.")
_ROOMY = 98
"""Cells from which every count has a column of its own."""


class RunList(RowList):
    """Runs of the runs folder."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.RUNS_NARROW,
            draw=self._cells,
            id="runs",
            names=True,
            newest_first=True,
            empty=Content("reading runs …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._listing = RunListing([], 0, "", "", frozenset())
        self._is_roomy = False
        self._by_path: Mapping[str, RunLine] = {}

    @property
    def line(self) -> RunLine | None:
        """The run under the cursor."""
        return None if self.cursor is None else self._by_path.get(self.cursor)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit."""
        is_roomy = event.size.width >= _ROOMY
        if is_roomy != self._is_roomy:
            self._is_roomy = is_roomy
            self.set_columns(row_cells.RUNS_WIDE if is_roomy else row_cells.RUNS_NARROW)

    def set_listing(self, listing: RunListing, *, is_complete: bool, mistake: str) -> None:
        """Show runs.

        Args:
            listing: the runs.
            is_complete: whether all of them have been read.
            mistake: why they cannot be read. Foreign text.
        """
        self._listing = listing
        self._by_path = {str(line.folder.path): line for line in listing.lines}
        self.title_line.show("Runs", _number(listing), f"/ filter   s {listing.order}")
        self.show(list(self._by_path), empty=_why_empty(listing.words, is_complete=is_complete, mistake=mistake))

    def _cells(self, key: str) -> Face:
        draw = row_cells.run_wide if self._is_roomy else row_cells.run_narrow
        line = self._by_path[key]
        cells = draw(line, time.time())
        if line.folder.path in self._listing.marked and not isinstance(cells, Content):
            return (Content.styled("A", "bold $live"), *cells[1:])
        return cells


def _number(listing: RunListing) -> Content:
    if not listing.words:
        return Content(number_format.count(listing.total))
    number = f"{len(listing.lines)} of {listing.total} with “"
    return Content.assemble(number, one_line(listing.words, 20), "”, F shows all")


def _why_empty(words: str, *, is_complete: bool, mistake: str) -> Content:
    if mistake:
        return literal(mistake, 400, "$broken")
    if not is_complete:
        return Content("reading runs …")
    if words:
        return Content.assemble("No run has “", one_line(words, 30), "”. F shows all.")
    return _EMPTY


class RunDetails(Static):
    """What there is to say of the run under the cursor, on wide and tall screens."""

    def __init__(self) -> None:
        super().__init__(id="about")
        self.border_title = Content("This run")

    def describe(self, line: RunLine | None) -> None:
        """Describe a run; None where there is none under the cursor."""
        if line is None:
            self.update(Content.styled("No run is under the cursor.", "$muted"))
            return
        text = row_cells.about_run(line, max(self.size.width, 40))
        if remarks := annotation_counts(Notes(line.folder.path).annotations().values()):
            text.append(Content.styled(remarks, "$undecided"))
        self.update(Content("\n").join(text))
