"""The list of runs: filtered by words, sorted several ways, with every empty and damaged state said in a sentence."""

import time
from collections.abc import Mapping
from pathlib import Path

from textual import events
from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import RunLine
from console.tui.data.workspace import Workspace
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.widgets.row_list import Face
from console.tui.widgets.section import Section

_EMPTY = Content("Nothing has been run yet.\nEnter on Try the demo shows everything without a key.")

_ROOMY = 98
"""Cells from which every count has a column of its own."""


class RunList(Section):
    """All runs of the runs folder."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(
            row_cells.RUNS_NARROW,
            draw=self._face,
            id="runs",
            names=True,
            newest_first=True,
            empty=Content("reading runs …"),
        )
        self.words = ""
        """Only runs with these words are shown."""
        self._order = 0
        self._marked: list[Path] = []
        self._wide = False
        self._by_path: Mapping[str, RunLine] = {}

    @property
    def line(self) -> RunLine | None:
        """The run under the cursor."""
        return None if self.cursor is None else self._by_path.get(self.cursor)

    def line_of(self, key: str) -> RunLine:
        """Return the run of a row."""
        return self._by_path[key]

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit."""
        wide = event.size.width >= _ROOMY
        if wide != self._wide:
            self._wide = wide
            self.set_columns(row_cells.RUNS_WIDE if wide else row_cells.RUNS_NARROW)

    def offer(self, workspace: Workspace) -> None:
        """Show the runs of the workspace."""
        every = workspace.runs or []
        kept = row_cells.select_runs(every, self.words, self._order)
        self._by_path = {str(line.folder.path): line for line in kept}
        self.label("Runs", self._number(len(kept), len(every)), f"/ filter   s {row_cells.SORTS[self._order][0]}")
        self.show(list(self._by_path), empty=self._why_empty(workspace))

    def mark(self) -> list[RunLine]:
        """Mark the run under the cursor, or take its mark away; return the marked runs in the order of marking."""
        line = self.line
        if line is not None and line.summary is not None:
            path = line.folder.path
            self._marked = [it for it in self._marked if it != path] + ([path] if path not in self._marked else [])
            self.touch()
        return [self._by_path[str(path)] for path in self._marked if str(path) in self._by_path]

    def unmark(self) -> None:
        """Take all marks away."""
        self._marked.clear()
        self.touch()

    @property
    def order(self) -> str:
        """Words for how the runs are sorted."""
        return row_cells.SORTS[self._order][0]

    @order.setter
    def order(self, words: str) -> None:
        names = [name for name, _, _ in row_cells.SORTS]
        self._order = names.index(words) if words in names else 0

    def next_order(self) -> None:
        """Sort another way from the next `offer` on."""
        self._order = (self._order + 1) % len(row_cells.SORTS)

    def _number(self, kept: int, every: int) -> Content:
        if not self.words:
            return Content(number_format.count(every))
        return Content.assemble(f"{kept} of {every} with “", one_line(self.words, 20), "”, F shows all")

    def _why_empty(self, workspace: Workspace) -> Content:
        if workspace.runs_mistake:
            return literal(workspace.runs_mistake, 400, "$broken")
        if not workspace.runs_complete:
            return Content("reading runs …")
        if self.words:
            return Content.assemble("No run has “", one_line(self.words, 30), "”. F shows all.")
        return _EMPTY

    def _face(self, key: str) -> Face:
        draw = row_cells.run_wide if self._wide else row_cells.run_narrow
        line = self._by_path[key]
        face = draw(line, time.time())
        if line.folder.path in self._marked and not isinstance(face, Content):
            return (Content.styled("A", "bold $live"), *face[1:])
        return face
