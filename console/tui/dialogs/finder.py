"""Finding a run, or a case of the run at hand, by any of its words, and jumping there."""

from functools import partial
from typing import NamedTuple

from textual.content import Content

from console.core.outcome import Outcome
from console.store.runs import RunFolder
from console.tui.data.catalog_items import CaseLine, read_case_lines
from console.tui.data.workspace import Workspace
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Column

_COLUMNS = (Column("", 1), Column("name", 26, 2), Column("about", 20, 3))


class JumpTarget(NamedTuple):
    """Where to jump: a run, or a case of it."""

    run: RunFolder
    case: str = ""


class Finder(FilterDialog[JumpTarget]):
    """Answers with a run or a case, or None."""

    DEFAULT_CSS = """
    Finder > Vertical { width: 96; }
    Finder RowList { height: 20; }
    BaseScreen.-compact Finder { align: left top; }
    """

    def __init__(self, workspace: Workspace, run: RunFolder | None) -> None:
        """Look among the runs of the workspace, and among the cases of one run."""
        self._workspace = workspace
        self._run = run
        self._targets = RunAndCaseRows(workspace, run)
        hint, nothing = "a word of a run, or of a case", "Nothing here has these words."
        super().__init__(self._targets, _COLUMNS, hint=hint, nothing=nothing)

    def on_mount(self) -> None:
        """Read the cases; the runs are shown at once."""
        if self._run is not None:
            self._workspace.in_thread(partial(self._read, self._run))

    def _read(self, run: RunFolder) -> None:
        self._workspace.hand_over(self._take, read_case_lines(run))

    def _take(self, cases: list[CaseLine]) -> None:
        self._targets.cases = cases
        if self.is_mounted:
            self.narrow()


class RunAndCaseRows:
    """The runs of the workspace, and the cases of one run."""

    def __init__(self, workspace: Workspace, run: RunFolder | None) -> None:
        """List runs; `cases` are added when they are read."""
        self._workspace = workspace
        self._run = run
        self.cases: list[CaseLine] = []
        self._targets: dict[str, JumpTarget] = {}

    def narrowed(self, text: str) -> list[str]:
        """Return the runs, and cases, that have all the words typed."""
        words = text.lower().split()
        self._targets = {}
        for line in self._workspace.runs or ():
            model = line.summary.model if line.summary else ""
            if line.summary is not None and _has(words, f"{line.name} {line.label} {model}"):
                self._targets[f"r {line.folder.path}"] = JumpTarget(line.folder)
        for place, case in enumerate(self.cases):
            if self._run is not None and _has(words, f"{case.id} {case.category} {case.title}"):
                self._targets[f"c {place}"] = JumpTarget(self._run, case.id)
        return list(self._targets)

    def answer(self, key: str) -> JumpTarget | None:
        """Return where to jump."""
        return self._targets[key]

    def draw_row(self, key: str) -> tuple[Content, ...]:
        """Return a run's or a case's line."""
        if key.startswith("c "):
            case = self.cases[int(key[2:])]
            outcome = case.outcome or Outcome.NOT_RUN
            mark = Content.styled(SYMBOLS.of(outcome), OUTCOME_STYLES[outcome])
            return mark, one_line(case.id, 100), one_line(case.title, 300, "$muted")
        line = self._workspace.find(self._targets[key].run.path)
        if line is None or line.summary is None:
            return Content.empty(), one_line(self._targets[key].run.name, 100), Content.empty()
        about = Content.assemble("run  ", one_line(line.label, 60), " / ", one_line(line.summary.model, 60))
        return Content.empty(), one_line(line.name, 100), about.stylize_before("$muted")


def _has(words: list[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in words)
