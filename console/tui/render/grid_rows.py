"""Lines of the grid of several runs: a line for each run, and a row of marks for each case. Pure."""

from textual.content import Content

from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.grid import Grid, GridRow
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"


def run_line(grid: Grid, index: int) -> Content:
    """Return number, model, score and name of a run."""
    side, (passed, graded) = grid.sides[index], grid.passed(index)
    mark = "   simulated" if side.manifest.simulated else ""
    return Content.assemble(
        (f"{index + 1}  ", "bold $focus"),
        one_line(side.model, 24, "bold"),
        f"  {number_format.score(passed, graded)}",
        (f" of {graded} graded in all   ", MUTED),
        one_line(side.name, 60, MUTED),
        (mark, "$undecided"),
    )


def case_cells(row: GridRow) -> tuple[Content, ...]:
    """Return the cells of a case: its id, how it ended in each run, its category."""
    marks = (_outcome_mark(outcome) for outcome in row.outcomes)
    return (one_line(row.slot[0], 120), *marks, one_line(row.category, 60, MUTED))


def _outcome_mark(outcome: Outcome | None) -> Content:
    if outcome is None:
        return Content.styled(SYMBOLS.not_run, MUTED)
    style = OUTCOME_STYLES[outcome]
    return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)
