"""Finding a run, or a case of the run at hand, by any of its words, and jumping there."""

from functools import partial
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from console.core.outcome import Outcome
from console.store.runs import RunFolder
from console.tui.marks import MARKS, OUTCOME_STYLES
from console.tui.safe import one_line
from console.tui.shelf import Shelf
from console.tui.stock import CaseLine, read_case_lines
from console.tui.widgets.rows import Column, Rows


class Found(NamedTuple):
    """Where to jump: a run, or a case of it."""

    run: RunFolder
    case: str = ""


class Finder(ModalScreen[Found | None]):
    """Answers with a run or a case, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    Finder { align: center top; background: $background 40%; }
    Finder > Vertical { width: 96; max-width: 95%; height: auto; max-height: 80%; margin-top: 2; background: $panel;
                        border: round $focus; }
    Finder Input { border: none; height: 1; background: $panel; padding: 0 1; margin-bottom: 1; }
    Finder Rows { height: 20; background: $panel; }
    Finder Rows > .rows--cursor-away { background: $cursor; color: $cursor-text; text-style: bold; }
    Place.-compact Finder { align: left top; }
    """

    def __init__(self, shelf: Shelf, run: RunFolder | None) -> None:
        """Look among the runs of the shelf, and among the cases of one run."""
        super().__init__()
        self._shelf = shelf
        self._run = run
        self._cases: list[CaseLine] = []
        self._found: dict[str, Found] = {}
        self._is_read = run is None

    def compose(self) -> ComposeResult:
        """Lay out the input and the list."""
        with Vertical():
            yield Input(placeholder="a word of a run, or of a case", compact=True)
            columns = [Column("", 1), Column("name", 26, 2), Column("about", 20, 3)]
            yield Rows(columns, draw=self._draw, empty=Content("Nothing here has these words."))

    def on_mount(self) -> None:
        """Show the runs at once, and the cases when they are read."""
        self._narrow("")
        if self._run is not None:
            self._shelf.in_thread(partial(self._read, self._run))

    def _read(self, run: RunFolder) -> None:
        self._shelf.hand_over(self._take, read_case_lines(run))

    def _take(self, cases: list[CaseLine]) -> None:
        self._cases, self._is_read = cases, True
        if self.is_mounted:
            self._narrow(self.query_one(Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self._choose(self.query_one(Rows).cursor)

    @on(Rows.RowChosen)
    def _clicked(self, event: Rows.RowChosen) -> None:
        self._choose(event.key)

    def action_step(self, step: int) -> None:
        """Move through the list while the input keeps the focus."""
        self.query_one(Rows).move_by(step)

    def _choose(self, key: str | None) -> None:
        if key is not None:
            self.dismiss(self._found[key])

    def _narrow(self, words: str) -> None:
        wanted = words.lower().split()
        self._found = {}
        for line in self._shelf.runs or ():
            model = line.summary.model if line.summary else ""
            if line.summary is not None and _has(wanted, f"{line.name} {line.label} {model}"):
                self._found[f"r {line.folder.path}"] = Found(line.folder)
        for place, case in enumerate(self._cases):
            if self._run is not None and _has(wanted, f"{case.id} {case.category} {case.title}"):
                self._found[f"c {place}"] = Found(self._run, case.id)
        rows = self.query_one(Rows)
        rows.show(list(self._found))
        if self._found:
            rows.move_to(next(iter(self._found)))

    def _draw(self, key: str) -> tuple[Content, ...]:
        if key.startswith("c "):
            case = self._cases[int(key[2:])]
            outcome = case.outcome or Outcome.NOT_RUN
            mark = Content.styled(MARKS.of(outcome), OUTCOME_STYLES[outcome])
            return mark, one_line(case.id, 100), one_line(case.title, 300, "$muted")
        line = self._shelf.find(self._found[key].run.path)
        if line is None or line.summary is None:
            return Content.empty(), one_line(self._found[key].run.name, 100), Content.empty()
        about = Content.assemble("run  ", one_line(line.label, 60), " / ", one_line(line.summary.model, 60))
        return Content.empty(), one_line(line.name, 100), about.stylize_before("$muted")


def _has(wanted: list[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in wanted)
