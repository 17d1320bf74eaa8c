"""The two lists of the form: models, and suites with the categories of those that are chosen."""

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import ModelLine, Models, SuiteLine, Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.launch.clickable_list import ClickableList
from console.tui.screens.launch.form import Form
from console.tui.widgets.row_list import Column, Face

_MODELS = (Column("", 3), Column("", 10, 2), Column("", 10, 3))
_SUITES = (Column("", 3), Column("", 12, 3), Column("", 14, 1, right=True))


class ModelChoice(ClickableList):
    """Models to tick; those without a key say what is missing."""

    def __init__(self, form: Form) -> None:
        """Draw from the form."""
        super().__init__(_MODELS, draw=self._face, quiet=True, id="launch-models", empty=Content("reading models …"))
        self._form = form
        self._models = Models()

    def offer(self, models: Models | None, words: str) -> None:
        """Show the models that have these words."""
        self._models = models or Models()
        names = [line.name for line in self._models.lines if words.lower() in line.name.lower()]
        self.label("Models", "space selects", f"{len(self._form.models)} chosen" if self._form.models else "")
        self.show(names, empty=Content("No model has these letters.") if models else None)

    def _face(self, key: str) -> Face:
        line = self._models.find(key)
        if line is None:
            return Content.empty()
        name = one_line(line.name, 60, "" if line.ready else "$muted")
        return _box(line.name in self._form.models, possible=line.ready), name, _model_note(line, short=self.room < 60)


def _model_note(line: ModelLine, *, short: bool) -> Content:
    """Return whether a model can be asked; in little room not which key it needs, which selecting it says."""
    if line.simulated:
        return Content.styled("simulated", "italic $muted")
    if short and not line.ready and line.state.endswith(" is not set"):
        return Content.styled("needs a key", "$muted")
    if not line.ready:
        return one_line(row_cells.model_state(line), 60, "$muted")
    return Content.styled("ready", "$muted")


class SuiteChoice(ClickableList):
    """Suites to tick; under a chosen one, its categories."""

    def __init__(self, form: Form) -> None:
        """Draw from the form."""
        super().__init__(_SUITES, draw=self._face, quiet=True, id="launch-suites", empty=Content("reading suites …"))
        self._form = form
        self._suites = Suites()

    def offer(self, suites: Suites | None, words: str) -> None:
        """Show the suites that have these words in their name, and categories of the chosen ones."""
        self._suites = suites or Suites()
        keys: list[str] = []
        for line in self._suites.lines:
            chosen = line.name in self._form.suites
            if chosen or words.lower() in line.name.lower():
                keys.append(f"suite {line.name}")
            if chosen:
                keys += [f"part {line.name}\n{part.name}" for part in line.categories if len(line.categories) > 1]
        self.label("Suites", "space selects", f"{len(self._form.suites)} chosen" if self._form.suites else "")
        self.show(keys, empty=Content("No suite has these letters.") if suites else None)

    @staticmethod
    def read_key(key: str) -> tuple[str, str]:
        """Return suite and category of a row; an empty category for the suite's own row."""
        kind, _, rest = key.partition(" ")
        suite, _, part = rest.partition("\n")
        return (suite, part) if kind == "part" else (rest, "")

    def line_of(self, key: str) -> SuiteLine | None:
        """Return the suite of a row."""
        return self._suites.find(self.read_key(key)[0])

    def _face(self, key: str) -> Face:
        line = self.line_of(key)
        _, part = self.read_key(key)
        if line is None:
            return Content.empty()
        return self._part_face(line, part) if part else self._suite_face(line)

    def _suite_face(self, line: SuiteLine) -> Face:
        name = one_line(line.name, 60, "" if not line.mistake else "$muted")
        if line.mistake:
            return _box(False, possible=False), name, Content.styled("not usable", "$broken")
        ticked = self._form.suites.get(line.name)
        chosen = [part for part in line.categories if ticked and part.name in ticked]
        cases = sum(part.cases for part in chosen) if chosen else line.cases
        return _box(ticked is not None, possible=True), name, Content(number_format.plural(cases, "case"))

    def _part_face(self, line: SuiteLine, name: str) -> Face:
        ticked = self._form.suites.get(line.name, set())
        part = next((one for one in line.categories if one.name == name), None)
        mark = Content.styled(f" {SYMBOLS.passed if name in ticked else '·'}", "$live" if name in ticked else "$muted")
        style = "$muted" if ticked and name not in ticked else ""
        count = number_format.plural(part.cases, "case") if part else ""
        return mark, Content("  ").append(one_line(name, 60, style)), Content.styled(count, "$muted")


def _box(chosen: bool, *, possible: bool) -> Content:
    if not possible:
        return Content.styled(" - ", "$muted")
    return Content.styled(f"[{SYMBOLS.chosen}]", "bold $live") if chosen else Content.styled("[ ]", "$muted")
