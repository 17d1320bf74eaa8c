"""Grid: more than two runs side by side, one mark for every case and run, those that differ first."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from console.core.case import Key
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.grid import Grid, GridRow
from console.store.runs import RunFolder
from console.tui.data.filter_in_force import FilterInForce
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import literal, one_line
from console.tui.screens.base import BaseScreen
from console.tui.screens.grid.controller import GridController
from console.tui.services import Services
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.titles import Rule

MUTED = "$muted"


def run_line(grid: Grid, index: int) -> Content:
    """Return number, model, score and name of a run."""
    side = grid.sides[index]
    mark = "   simulated" if side.manifest.simulated else ""
    rate, count = grid.rate(index), str(len(grid.shared))
    basis = f"{rate.cases} cases, {count} rollouts" if rate is not None and rate.rollouts > rate.cases else count
    return Content.assemble(
        (f"{index + 1}  ", "bold $focus"),
        one_line(side.model, 24, "bold"),
        f"  {number_format.score(rate)}",
        (f" of {basis} graded in all   ", MUTED),
        one_line(side.name, 60, MUTED),
        (mark, "$undecided"),
    )


def case_cells(row: GridRow) -> tuple[Content, ...]:
    """Return the cells of a case: its id, how it ended in each run, its category."""
    marks = (_outcome_mark(outcome) for outcome in row.outcomes)
    return (one_line(str(Key(*row.slot)), 120), *marks, one_line(row.category, 60, MUTED))


def _outcome_mark(outcome: Outcome | None) -> Content:
    if outcome is None:
        return Content.styled(SYMBOLS.not_run, MUTED)
    style = OUTCOME_STYLES[outcome]
    return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)


class GridScreen(BaseScreen):
    """Several runs: a line for each, and their cases."""

    where: ClassVar[str] = "grid"
    heading: ClassVar[str] = "Compare"
    AUTO_FOCUS: ClassVar[str | None] = "#grid"
    DEFAULT_CSS = """
    GridScreen { #sides { height: auto; max-height: 10; padding: 0 1; } #grid { height: 1fr; } }
    """

    def __init__(self, services: Services, runs: Sequence[RunFolder]) -> None:
        """Show runs side by side; nothing is read before the screen is mounted."""
        super().__init__(services)
        self.controller = GridController(runs)
        self.run_lines = Static(id="sides")
        columns = (Column("case", 24, 3), *(Column(str(number), 3) for number in range(1, len(runs) + 1)),
                   Column("category", 14, 1))  # fmt: skip
        self.cases = RowList(columns, id="grid", classes="pane", names=True, empty=Content("reading the runs …"))

    def compose_body(self) -> ComposeResult:
        yield self.run_lines
        yield Rule()
        yield self.cases

    def on_mount(self) -> None:
        self.top_line.tell(title=Content(f"{len(self.controller.runs)} runs"))
        self.action_reload()

    @work(thread=True, exclusive=True, group="grid")
    def action_reload(self) -> None:
        try:
            grid = self.controller.read()
        except (UsageError, OSError) as error:
            self.services.from_thread(self._refuse, str(error))
            return
        if self.is_running:
            self.services.from_thread(self._take, grid)

    def _refuse(self, why: str) -> None:
        self.cases.show([], empty=literal(why, 400, "$broken"))

    def _take(self, grid: Grid) -> None:
        self.controller.take(grid)
        self.run_lines.update(Content("\n").join([run_line(grid, index) for index in range(len(grid.sides))]))
        self._relist()

    def _relist(self) -> None:
        if self.controller.grid is None:
            return
        self.top_line.tell(status=Content(self.controller.status))
        self.cases.show(list(self.controller.rows), draw=self._face, empty=Content(self.controller.empty_words))

    def _face(self, key: str) -> Face:
        return case_cells(self.controller.rows[key])

    # What the reader does --------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#grid")
    def _chosen(self, event: RowList.RowChosen) -> None:
        """Compare the first run that passed the case with the first that did not."""
        row = self.controller.rows[event.key]
        if (pair := self.controller.pair_for(row)) is not None:
            self.services.navigator.open_compare(*pair, row.slot[0])
        else:
            self.services.notify(Content("Only one run has this case."))

    @property
    def filter_in_force(self) -> FilterInForce | None:
        return self.controller.filter_in_force

    def find_changed(self, text: str, *, done: bool) -> None:
        """List only cases with these words."""
        self.controller.find(text)
        self._relist()

    def action_filter(self) -> None:
        """List what differs, or every case."""
        self.controller.toggle_same()
        self._relist()

    def action_filter_clear(self) -> None:
        self.controller.list_different()
        self.find_session.clear()
        self.refresh_keys()
