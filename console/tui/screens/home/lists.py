"""The lists of models and of suites: what can be run, and what stands in the way of the rest, with its hint."""

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import Models, Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.list_title import ListTitle
from console.tui.widgets.row_list import Face, RowList


class ModelList(RowList):
    """Models with the state of their keys; mistakes of models.toml come first."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.MODELS,
            draw=self._cells,
            quiet=True,
            id="models",
            empty=Content("reading models …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._models = Models()

    def offer(self, models: Models | None) -> None:
        """Show these models; None while they are read."""
        self._models = models or Models()
        ready = sum(line.ready for line in self._models.lines)
        missing = len(self._models.lines) - ready
        number = f"{ready} ready, {missing} need a key" if missing else f"{ready} ready" if ready else ""
        path = self._models.path
        self.title_line.show(
            "Models", number, one_line(path.name, 40) if path else "no models.toml, e makes one" if models else ""
        )
        notes = [f"! {place}" for place in range(len(self._models.mistakes))]
        notes += [f"~ {place}" for place in range(len(self._models.warnings))]
        self.show([*notes, *(f"= {line.name}" for line in self._models.lines)])

    def note_of(self, key: str) -> str:
        """Return the whole mistake or warning of a row, or an empty text for a model."""
        sign, _, place = key.partition(" ")
        notes = {"!": self._models.mistakes, "~": self._models.warnings}.get(sign)
        return notes[int(place)] if notes else ""

    def _cells(self, key: str) -> Face:
        if note := self.note_of(key):
            style = "bold $broken" if key.startswith("!") else "$fail"
            return Content.assemble(
                (f"{SYMBOLS.broken}  ", style), one_line(note, 400, "" if key[0] == "!" else "$muted")
            )
        line = self._models.find(key[2:])
        return row_cells.model_cells(line) if line else Content.empty()


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

    def offer(self, suites: Suites | None) -> None:
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

    def _cells(self, key: str) -> Face:
        if key == "+":
            return Content.styled(f"  official data: `eval-console pull {self._suites.missing[0].name}`", "$muted")
        if key.startswith("!"):
            return Content.assemble((f"{SYMBOLS.broken}  ", "$broken"), one_line(self.note_of(key), 400))
        line = self._suites.find(key[2:])
        return row_cells.suite_cells(line) if line else Content.empty()
