"""The list of models: what can be asked, and what stands in the way of the rest, with its hint."""

from textual.content import Content

from console.tui.data.catalog_items import Models
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Face, RowList
from console.tui.widgets.titles import ListTitle


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

    def set_models(self, models: Models | None) -> None:
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

    def name_of(self, key: str) -> str:
        """Return the model of a row that is no note."""
        return key[2:]

    def _cells(self, key: str) -> Face:
        if note := self.note_of(key):
            style = "bold $broken" if key.startswith("!") else "$fail"
            return Content.assemble(
                (f"{SYMBOLS.broken}  ", style), one_line(note, 400, "" if key[0] == "!" else "$muted")
            )
        line = self._models.find(key[2:])
        return row_cells.model_cells(line) if line else Content.empty()
