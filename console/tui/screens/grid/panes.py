"""The panes of Grid: category table, case list, and reasons or answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.content import Content

from console.core.case import Key
from console.core.fault import UsageError
from console.insight.case_in_run import CaseInRun
from console.insight.grid import Grid, GridCase
from console.tui.render import grid_rows
from console.tui.render.block import Block
from console.tui.render.columns import Column, Face
from console.tui.render.side_by_side import AnsweredCase, side_by_side_lines
from console.tui.sanitize import literal, one_line
from console.tui.screens.grid.controller import MOST_OUTPUTS, GridController, SuspectKeys
from console.tui.symbols import MUTED, block_title, muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import BORDER_CELLS, PaneTitle, case_title
from console.tui.widgets.transcript import Transcript

_WHY = 18
"""Cells reserved for the reason why a key is suspect."""


class CategoryTable(RowList):
    """A row for each category, a column for each run. The cursor marks a cell; the screen moves it between runs."""

    def __init__(self, runs: GridController) -> None:
        super().__init__(id="heat", classes="pane", names=True, empty=Content("reading the runs …"))
        self._controller = runs

    def refuse(self, why: str) -> None:
        """Show why the runs cannot be shown. Untrusted text."""
        self.show([], empty=literal(why, 400, "$broken"))

    def show_grid(self) -> None:
        grid = self._controller.grid
        if grid is None:
            return
        self.set_columns(grid_rows.category_columns(grid, self._shown(grid)))
        self.border_title = Content.assemble("Categories", (f"  {len(grid.categories)}", MUTED))
        self.border_subtitle = muted("h l run   enter lists its cases")
        self.show(self._controller.category_keys, draw=self._face, empty=Content("No case was graded."))

    def on_resize(self, event: events.Resize) -> None:
        self.show_grid()

    def _shown(self, grid: Grid) -> grid_rows.ShownRuns:
        return grid_rows.shown_runs(len(grid.sides), self._controller.place, max(self.room - 2, 40))

    def _face(self, key: str) -> Face:
        grid = self._controller.grid
        if grid is None:
            return ()
        category = self._controller.category_of(key)
        return grid_rows.category_cells(grid, category, self._shown(grid), self._controller.place)


class GridCaseList(RowList):
    """The cases of the current cell, with a verdict symbol for each run."""

    def __init__(self) -> None:
        super().__init__(id="grid", classes="pane", names=True)
        self.pane_title = PaneTitle("grid", id="grid-caption")
        self._rows: Mapping[str, GridCase] = {}
        self._suspects: SuspectKeys | None = None
        self._place = 0
        self._marks: Sequence[int] = ()
        """Width of the marks of each run."""
        self._columns: Callable[[], Sequence[Column]] = tuple
        """Returns the columns for the current width."""

    def on_resize(self, event: events.Resize) -> None:
        """Lay out the columns again; the list may have been filled while it was hidden."""
        self.set_columns(self._columns())

    def show_outputs(self, controller: GridController) -> None:
        grid = controller.grid
        assert grid is not None
        self._rows, self._place = controller.rows, controller.place
        shown = grid_rows.shown_outputs(min(len(grid.sides), MOST_OUTPUTS), self._place, max(self.room - 2, 40))
        self.pane_title.tell(Content("Answers"), muted("h l run   enter opens"))
        self._columns = lambda: grid_rows.output_columns(grid, shown)
        self.set_columns(self._columns())
        prompts = Counter(controller.prompt(case.telling) for case in controller.cases)

        def draw(key: str) -> Face:
            case = controller.rows[key]
            prompt = controller.prompt(case.telling)
            own = prompt if prompts[prompt] == 1 and not case.is_repeat else ""
            return grid_rows.output_cells(case, own, controller.outputs(key), shown, self._place)

        self.show(list(self._rows), draw=draw, empty=Content(controller.empty_words))

    def show_cases(self, controller: GridController) -> None:
        self._rows, self._place = controller.rows, controller.place
        cases = list(self._rows.values())
        self._marks = grid_rows.mark_widths(cases, len(controller.runs))
        has_repeats = any(len(case.repeats) > 1 for case in cases)
        self._suspects = controller.suspects
        name = grid_rows.EVERY_CATEGORY if controller.category is None else controller.category or "no category"
        if self._suspects is not None:
            name = "Suspect keys"
        title = Content.assemble(one_line(name, 40, "bold"), (f"  {controller.list_words}", MUTED))
        keys = "f all or differing" if self._suspects is None else "X decides   s cases"
        self.pane_title.tell(title, muted(f"x repeats   {keys}" if has_repeats else keys))
        longest = max((len(grid_rows.case_name(case)) for case in cases), default=0)
        self._columns = lambda: grid_rows.case_columns(self._shown, self._marks, longest)
        self.set_columns(self._columns())
        self.show(list(self._rows), draw=self._face, empty=Content(controller.empty_words))

    @property
    def _shown(self) -> range:
        why = _WHY if self._suspects is not None else 0
        return grid_rows.shown_marks(self._marks, self._place, max(self.room - 2 - why, 40))

    def _face(self, key: str) -> Face:
        case = self._rows[key]
        if self._suspects is not None:
            why = self._suspects.why(case.slot[0])
        else:
            why = case.reason_in(self._place)
            above = self._rows.get(f"case/{case.slot[0]}")
            if case.is_repeat and above is not None and above.reason_in(self._place) == why:
                why = ""
        return grid_rows.case_cells(case, self._shown, self._place, why)


class DetailPane(Transcript):
    """Failure reasons in a category, or the expected and actual answers to a case."""

    def __init__(self) -> None:
        super().__init__(id="detail", classes="pane")
        self.pane_title = PaneTitle("detail", id="detail-caption")

    def show_reasons(self, grid: Grid, category: str | None, place: int) -> None:
        """Show the counts of the current cell and the reasons that differ."""
        name = grid_rows.EVERY_CATEGORY if category is None else category or "no category"
        self.pane_title.tell(Content("Reasons"), one_line(name, 40, MUTED))
        self.show([Block("reasons", body=tuple(grid_rows.reason_lines(grid, category, place, self._width)), indent=0)])

    def show_answers(
        self,
        grid: Grid,
        case: GridCase,
        answers: Sequence[CaseInRun | None],
        why_no_suite: str,
        suspicion: Sequence[str] = (),
        scores: Sequence[str] = (),
    ) -> None:
        """Show why the key is suspect, then the expected answer next to those of the runs that have the case."""
        self._name_case(case)
        played = [(place, side) for place, side in enumerate(answers) if side is not None]
        headings = grid_rows.answer_headings(grid, case, [place for place, _ in played])
        answered = [AnsweredCase(heading, side) for heading, (_, side) in zip(headings, played, strict=True)]
        blocks = [Block("suspect", text="\n".join(suspicion), style="$undecided", indent=0)] if suspicion else []
        blocks += [Block("answers", body=tuple(side_by_side_lines(answered, self._width)), indent=0)]
        for place, side in played:
            if side.fault:
                blocks.append(Block(f"fault {place}", one_line(f"{place + 1}: {side.fault}", 400, "$undecided")))
        if missing := [str(place + 1) for place, side in enumerate(answers) if side is None]:
            blocks.append(Block("missing", muted(f"not in {', '.join(missing)}")))
        if why_no_suite:
            blocks.append(Block("why", one_line(why_no_suite, 400, "$undecided")))
        if scores:
            blocks.append(Block("scores", block_title("scores"), text="\n".join(scores), indent=0))
        self.show(blocks)

    def show_wait(self, case: GridCase) -> None:
        """Show a placeholder while the suite compares a case."""
        self._name_case(case)
        self.show([Block("wait", muted("comparing expected and actual …"))])

    def show_fault(self, error: UsageError) -> None:
        """Show why a case cannot be shown."""
        self.show([Block("fault", literal(str(error), 600, "$broken"))])

    def clear(self) -> None:
        self.pane_title.tell(Content.empty())
        self.show([])

    def _name_case(self, case: GridCase) -> None:
        keys = muted("enter compares two")
        room = (self.outer_size.width or self.screen.size.width) - BORDER_CELLS
        room -= keys.cell_length if self.pane_title.display else 0
        has_repeats = case.is_repeat or len(case.repeats) > 1
        title = case_title(Key(*case.slot), room, has_repeats=has_repeats, is_repeat=case.is_repeat)
        self.pane_title.tell(title, keys)

    @property
    def _width(self) -> int:
        return max(self.room - 1, 40)
