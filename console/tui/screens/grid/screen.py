"""Grid: more than two runs side by side, one mark for every case and run, those that differ first."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.exchange.reading import RunReader
from console.insight import number_format
from console.insight.grid import Grid, GridRow, grid
from console.store.runs import RunFolder
from console.tui.keymap import bindings_for
from console.tui.render.rollout_rows import row_key
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import literal, one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.rule import Rule

MUTED = "$muted"


class GridScreen(BaseScreen):
    """Several runs; see the module."""

    where: ClassVar[str] = "grid"
    heading: ClassVar[str] = "Compare"
    AUTO_FOCUS: ClassVar[str | None] = "#grid"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("grid")
    DEFAULT_CSS = """
    GridScreen { #sides { height: auto; max-height: 10; padding: 0 1; } #grid { height: 1fr; } }
    """

    def __init__(self, services: Services, runs: Sequence[RunFolder]) -> None:
        """Lay runs side by side; nothing is read before the screen is mounted."""
        super().__init__(services)
        self.runs = list(runs)
        self.grid: Grid | None = None
        self._listed: dict[str, GridRow] = {}
        self._only_different = True
        self._words = ""

    def compose_body(self) -> ComposeResult:
        """Lay out the runs and the cases."""
        yield Static(id="sides")
        yield Rule()
        columns = (Column("case", 24, 3), *(Column(str(place), 3) for place in range(1, len(self.runs) + 1)),
                   Column("category", 14, 1))  # fmt: skip
        yield RowList(columns, id="grid", classes="pane", names=True, empty=Content("reading the runs …"))

    def on_mount(self) -> None:
        """Begin to read."""
        self.top_line.tell(title=Content(f"{len(self.runs)} runs"))
        self.action_reload()

    @work(thread=True, exclusive=True, group="grid")
    def action_reload(self) -> None:
        """Read all runs."""
        try:
            found = grid([RunReader(run).side for run in self.runs])
        except (UsageError, OSError) as error:
            self.services.from_thread(self._refuse, str(error))
            return
        if self.is_running:
            self.services.from_thread(self._take, found)

    def _refuse(self, why: str) -> None:
        self.query_one("#grid", RowList).show([], empty=literal(why, 400, "$broken"))

    def _take(self, found: Grid) -> None:
        self.grid = found
        made = [self._side_line(place) for place in range(len(found.sides))]
        self.query_one("#sides", Static).update(Content("\n").join(made))
        self._list()

    def _side_line(self, place: int) -> Content:
        assert self.grid is not None
        side, (passed, graded) = self.grid.sides[place], self.grid.passed(place)
        mark = "   simulated" if side.manifest.simulated else ""
        return Content.assemble(
            (f"{place + 1}  ", "bold $focus"),
            one_line(side.model, 24, "bold"),
            f"  {number_format.score(passed, graded)}",
            (f" of {graded} graded in all   ", MUTED),
            one_line(side.name, 60, MUTED),
            (mark, "$undecided"),
        )

    def _list(self) -> None:
        if self.grid is None:
            return
        words = self._words.casefold().split()
        self._listed = {
            row_key(row.slot): row
            for row in self.grid.rows
            if (row.differs or not self._only_different)
            and all(word in f"{row.slot[0]} {row.category}".casefold() for word in words)
        }
        differing = sum(row.differs for row in self.grid.rows)
        self.top_line.tell(status=Content(f"{differing} of {len(self.grid.rows)} differ"))
        empty = "Nothing matches. F clears the filter." if words else "No case differs. f lists all."
        self.query_one("#grid", RowList).show(list(self._listed), draw=self._draw, empty=Content(empty))

    def _draw(self, key: str) -> Face:
        row = self._listed[key]
        return (one_line(row.slot[0], 120), *(_mark(it) for it in row.outcomes), one_line(row.category, 60, MUTED))

    # Acting ----------------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#grid")
    def _chosen(self, event: RowList.RowChosen) -> None:
        """Open the first run that passed the case beside the first that did not."""
        row = self._listed[event.key]
        passed = [run for run, it in zip(self.runs, row.outcomes, strict=True) if it is Outcome.PASSED]
        others = [run for run, it in zip(self.runs, row.outcomes, strict=True) if it not in (None, Outcome.PASSED)]
        pair = [*passed[:1], *others[:1]] if passed and others else [*passed, *others][:2]
        if len(pair) == 2:
            self.services.navigator.open_compare(pair[0], pair[1], row.slot[0])
        else:
            self.services.notify(Content("Only one run has this case."))

    def find_changed(self, text: str, *, done: bool) -> None:
        """List only cases with these words."""
        self._words = text
        self._list()

    def action_filter(self) -> None:
        """List what differs, or every case."""
        self._only_different = not self._only_different
        self._list()

    def action_filter_clear(self) -> None:
        """List what differs again."""
        self._only_different = True
        self.find_session.clear()


def _mark(outcome: Outcome | None) -> Content:
    if outcome is None:
        return Content.styled(SYMBOLS.not_run, MUTED)
    style = OUTCOME_STYLES[outcome]
    return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)
