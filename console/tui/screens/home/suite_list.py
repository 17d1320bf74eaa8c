"""The list of suites: what can be played, and what stands in the way of the rest, with its hint."""

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Face, RowList
from console.tui.widgets.titles import ListTitle


class SuiteList(RowList):
    """Suites with their sizes; what could not be opened says why."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.SUITES,
            draw=self._cells,
            quiet=True,
            id="suites",
            empty=Content("reading suites …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._suites = Suites()

    def set_suites(self, suites: Suites | None) -> None:
        """Show these suites; None while they are read."""
        self._suites = suites or Suites()
        cases = sum(line.cases for line in self._suites.lines)
        self.title_line.show("Suites", number_format.plural(cases, "case") if suites else "")
        notes = [f"! {place}" for place in range(len(self._suites.warnings))]
        is_official = any(line.entry.origin == "pulled" for line in self._suites.lines)
        more = ["+"] if self._suites.missing and not is_official else []
        keys = [*(f"= {line.name}" for line in self._suites.lines), *notes, *more]
        empty = Content("No suite was found.") if suites else None
        self.show(keys, fixed=frozenset(more), empty=empty)

    def note_of(self, key: str) -> str:
        """Return why a suite cannot be used, or the whole warning of a row, or an empty text."""
        if key.startswith("!"):
            return self._suites.warnings[int(key[2:])]
        line = self._suites.find(key[2:])
        return line.mistake if line else ""

    def name_of(self, key: str) -> str:
        """Return the suite of a row that is no note."""
        return key[2:]

    def _cells(self, key: str) -> Face:
        if key == "+":
            return Content.styled(f"  official data: `eval-console pull {self._suites.missing[0].name}`", "$muted")
        if key.startswith("!"):
            return Content.assemble((f"{SYMBOLS.broken}  ", "$broken"), one_line(self.note_of(key), 400))
        line = self._suites.find(key[2:])
        return row_cells.suite_cells(line) if line else Content.empty()
