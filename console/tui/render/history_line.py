"""History of a case as a line and as rows: outcomes over runs, oldest first, and those of other models."""

from collections.abc import Sequence

from textual.content import Content

from console.exchange.search.case_history import CaseRun, ModelHistory, by_model
from console.insight.number_format import moment
from console.store.runs import RunFolder
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted, outcome_sign

COLUMNS = (
    Column("", 4),
    Column("when", 16),
    Column("model", 12, 2),
    Column("data", 10),
    Column("run", 12, 3, is_name=True),
)
MOST_MARKS = 8
_MOST_MODELS = 4


def history_line(runs: Sequence[CaseRun], shown: RunFolder, model: str, key: str, width: int) -> Content:
    """Return one line: `history ✓✓✗✗ · careful ✓ (I)`; empty if no other run has the case or nothing fits.

    The key, then models, then the oldest runs are left out as a whole for which there is no room.

    Args:
        runs: the runs with this case, newest first.
        shown: the run that is open.
        model: its model.
        key: the key that shows all of it.
        width: cells.
    """
    if all(run.folder.path == shown.path for run in runs):
        return Content.empty()
    own, *others = by_model(runs, model)
    digest = next((run.digest for run in runs if run.folder.path == shown.path), runs[0].digest)
    others_marks = [
        one_line(other.model.rpartition("/")[2], 16).append(" ").append(mark(other.runs[-1], digest))
        for other in others
    ]
    most_models = min(len(others), _MOST_MODELS)
    own_marks = [_marks(own, shown, digest, most) for most in range(min(len(own.runs), MOST_MARKS), 0, -1)]
    forms = [[own_marks[0], *_first_models(others_marks, count)] for count in range(most_models, -1, -1)]
    forms += [[marks] for marks in own_marks]
    bodies = [muted("history ").append(muted(" · ").join(parts)) for parts in forms]
    candidates = (bodies[0].append(muted(f"  ({key})")), *bodies)
    return next((line for line in candidates if line.cell_length <= width), Content.empty())


def _first_models(marks: Sequence[Content], count: int) -> list[Content]:
    """Return the marks of the first models, and the number of the others."""
    others = len(marks) - count
    return [*marks[:count], *([muted(f"{others} more")] if others else [])]


def _marks(own: ModelHistory, shown: RunFolder, digest: str, most: int) -> Content:
    """Return the marks of the newest runs of a model; the open run's is underlined."""
    left_out = muted(SYMBOLS.cut) if len(own.runs) > most else Content.empty()
    marks = [
        mark(run, digest).stylize("bold underline") if run.folder.path == shown.path else mark(run, digest)
        for run in own.runs[-most:]
    ]
    between = " " if any(len(run.rollouts) > 1 for run in own.runs) else ""
    return left_out.append(Content(between).join(marks))


def mark(run: CaseRun, digest: str) -> Content:
    """Return the outcome of a case in a run, or n/m if its repeats differ; `≠` if the case's data was different."""
    if len(run.rollouts) > 1:
        style = "$pass" if run.passed == run.graded else "$fail" if not run.passed else "$undecided"
        sign = Content.styled(f"{run.passed}/{run.graded}", style)
    else:
        sign = outcome_sign(run.outcome) if run.outcome is not None else muted(SYMBOLS.stopped)
    return sign if run.digest == digest else sign.append(muted(SYMBOLS.changed))


def history_row(run: CaseRun, digest: str, shown: RunFolder) -> tuple[Content, ...]:
    """Return a run's cells for `COLUMNS`."""
    name = f"{run.facts.title}  {run.folder.name}" if run.facts.title else run.folder.name
    is_shown = run.folder.path == shown.path
    data = muted("same data") if run.digest == digest else Content.styled("other data", "$undecided")
    return (
        mark(run, run.digest),
        muted(moment(run.facts.at)),
        one_line(run.facts.model, 60),
        muted("shown") if is_shown else data,
        one_line(name, 100, "bold" if is_shown else MUTED),
    )
