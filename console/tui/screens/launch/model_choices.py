"""`ModelChoices`: the list of models of the form."""

from collections.abc import Collection

from textual.content import Content

from console.tui.data.catalog_items import ModelLine, Models
from console.tui.render import row_cells
from console.tui.sanitize import one_line
from console.tui.screens.launch.choice_list import ChoiceList, tick_box
from console.tui.widgets.row_list import Column, Face

_COLUMNS = (Column("", 3), Column("", 10, 2), Column("", 10, 3))


class ModelChoices(ChoiceList):
    """Models to tick; those without a key say what is missing."""

    def __init__(self) -> None:
        super().__init__(_COLUMNS, self._cells, id="launch-models", empty=Content("reading models …"))
        self._models = Models()
        self._chosen: Collection[str] = ()

    def set_models(self, models: Models | None, chosen: Collection[str], words: str) -> None:
        """Show the models that have these words, None while they are read; the chosen ones are ticked."""
        self._models, self._chosen = models or Models(), frozenset(chosen)
        names = [line.name for line in self._models.lines if words.lower() in line.name.lower()]
        self.title_line.show("Models", "space selects", f"{len(self._chosen)} chosen" if self._chosen else "")
        self.show(names, empty=Content("No model has these letters.") if models else None)

    def _cells(self, key: str) -> Face:
        line = self._models.find(key)
        if line is None:
            return Content.empty()
        name = one_line(line.name, 60, "" if line.ready else "$muted")
        return tick_box(line.name in self._chosen, possible=line.ready), name, _model_note(line, short=self.room < 60)


def _model_note(line: ModelLine, *, short: bool) -> Content:
    """Return whether a model can be asked; in little room not which key it needs, which selecting it says."""
    if line.simulated:
        return Content.styled("simulated", "italic $muted")
    if short and not line.ready and line.state.endswith(" is not set"):
        return Content.styled("needs a key", "$muted")
    if not line.ready:
        return one_line(row_cells.model_state(line), 60, "$muted")
    return Content.styled("ready", "$muted")
