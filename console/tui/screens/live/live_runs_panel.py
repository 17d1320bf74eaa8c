"""`LiveRunsPanel`: the runs that are live beside the one on the screen; enter on one watches it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from textual import on
from textual.content import Content
from textual.message import Message

from console.core.live import Status
from console.tui.data.catalog_items import RunLine
from console.tui.render.live_run_rows import counts_by_state, has_costs, names_apart, run_cells, run_columns
from console.tui.sanitize import one_line
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList


class LiveRunsPanel(RowList):
    """One row for each run, by the path of its folder."""

    class RunChosen(Message):
        """The reader wants to watch a run."""

        def __init__(self, line: RunLine) -> None:
            """Name the run."""
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        """Start without runs."""
        super().__init__(run_columns(()), id="beside", classes="pane", names=True, quiet=True)
        self.pane_title = PaneTitle("beside", id="beside-caption")
        self._run_lines: dict[str, RunLine] = {}
        self._run_names: dict[str, Content] = {}
        self._statuses: Mapping[Path, Status] = {}

    def show_runs(self, lines: Sequence[RunLine], statuses: Mapping[Path, Status], *, watched: Path) -> None:
        """List runs.

        Args:
            lines: the runs.
            statuses: what their engines say of themselves.
            watched: folder of the one on the screen, on which the cursor begins.
        """
        is_first = self.cursor is None
        shared, names = names_apart(lines)
        keys = [str(line.folder.path) for line in lines]
        bold = [name.stylize("bold") if key == str(watched) else name for key, name in zip(keys, names, strict=True)]
        self._run_lines, self._run_names = dict(zip(keys, lines, strict=True)), dict(zip(keys, bold, strict=True))
        self._statuses = statuses
        self.set_columns(run_columns(lines))
        self.show(keys, draw=self._draw_run)
        if is_first:
            self.move_to(str(watched))
        head = Content.assemble("Runs", (f"  {counts_by_state(lines)}   ", "$muted"), one_line(shared, 60, "$muted"))
        self.pane_title.tell(head, Content.styled("enter watches  [ ] other run", "$muted"))

    def _draw_run(self, key: str) -> tuple[Content, ...]:
        line = self._run_lines.get(key)
        if line is None:
            return ()
        with_cost = has_costs(list(self._run_lines.values()))
        return run_cells(line, self._statuses.get(line.folder.path), name=self._run_names[key], with_cost=with_cost)

    @on(RowList.RowChosen)
    def _choose_run(self, event: RowList.RowChosen) -> None:
        event.stop()
        if (line := self._run_lines.get(event.key)) is not None:
            self.post_message(self.RunChosen(line))
