"""Finding a run, or a case of the run at hand, by any of its words, and jumping there."""

from functools import partial
from typing import ClassVar, NamedTuple

from textual.content import Content

from console.core.outcome import Outcome
from console.store.runs import RunFolder
from console.tui.data.catalog_items import CaseLine, read_case_lines
from console.tui.data.workspace import Workspace
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Column


class Found(NamedTuple):
    """Where to jump: a run, or a case of it."""

    run: RunFolder
    case: str = ""


class Finder(FilterDialog[Found]):
    """Answers with a run or a case, or None."""

    hint: ClassVar[str] = "a word of a run, or of a case"
    nothing: ClassVar[str] = "Nothing here has these words."
    columns: ClassVar[tuple[Column, ...]] = (Column("", 1), Column("name", 26, 2), Column("about", 20, 3))
    DEFAULT_CSS = """
    Finder > Vertical { width: 96; }
    Finder RowList { height: 20; }
    BaseScreen.-compact Finder { align: left top; }
    """

    def __init__(self, workspace: Workspace, run: RunFolder | None) -> None:
        """Look among the runs of the workspace, and among the cases of one run."""
        super().__init__()
        self._workspace = workspace
        self._run = run
        self._cases: list[CaseLine] = []
        self._found: dict[str, Found] = {}

    def on_mount(self) -> None:
        """Show the runs at once, and the cases when they are read."""
        super().on_mount()
        if self._run is not None:
            self._workspace.in_thread(partial(self._read, self._run))

    def _read(self, run: RunFolder) -> None:
        self._workspace.hand_over(self._take, read_case_lines(run))

    def _take(self, cases: list[CaseLine]) -> None:
        self._cases = cases
        if self.is_mounted:
            self.narrow()

    def narrowed(self, text: str) -> list[str]:
        """Return the runs, and cases, that have all the words typed."""
        wanted = text.lower().split()
        self._found = {}
        for line in self._workspace.runs or ():
            model = line.summary.model if line.summary else ""
            if line.summary is not None and _has(wanted, f"{line.name} {line.label} {model}"):
                self._found[f"r {line.folder.path}"] = Found(line.folder)
        for place, case in enumerate(self._cases):
            if self._run is not None and _has(wanted, f"{case.id} {case.category} {case.title}"):
                self._found[f"c {place}"] = Found(self._run, case.id)
        return list(self._found)

    def answer(self, key: str) -> Found | None:
        """Return where to jump."""
        return self._found[key]

    def draw_row(self, key: str) -> tuple[Content, ...]:
        """Return a run's or a case's line."""
        if key.startswith("c "):
            case = self._cases[int(key[2:])]
            outcome = case.outcome or Outcome.NOT_RUN
            mark = Content.styled(SYMBOLS.of(outcome), OUTCOME_STYLES[outcome])
            return mark, one_line(case.id, 100), one_line(case.title, 300, "$muted")
        line = self._workspace.find(self._found[key].run.path)
        if line is None or line.summary is None:
            return Content.empty(), one_line(self._found[key].run.name, 100), Content.empty()
        about = Content.assemble("run  ", one_line(line.label, 60), " / ", one_line(line.summary.model, 60))
        return Content.empty(), one_line(line.name, 100), about.stylize_before("$muted")


def _has(wanted: list[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in wanted)
