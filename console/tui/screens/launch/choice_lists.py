"""The two lists of the form: models, and suites with the categories of those that are chosen."""

from collections.abc import Collection, Mapping

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import ModelLine, Models, SuiteLine, Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.launch.choice_list import ChoiceList
from console.tui.widgets.row_list import Column, Face

_MODELS = (Column("", 3), Column("", 10, 2), Column("", 10, 3))
_SUITES = (Column("", 3), Column("", 12, 3), Column("", 14, 1, right=True))


class ModelChoices(ChoiceList):
    """Models to tick; those without a key say what is missing."""

    def __init__(self) -> None:
        super().__init__(_MODELS, self._cells, id="launch-models", empty=Content("reading models …"))
        self._models = Models()
        self._chosen: Collection[str] = ()

    def offer(self, models: Models | None, chosen: Collection[str], words: str) -> None:
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
        return _box(line.name in self._chosen, possible=line.ready), name, _model_note(line, short=self.room < 60)


def _model_note(line: ModelLine, *, short: bool) -> Content:
    """Return whether a model can be asked; in little room not which key it needs, which selecting it says."""
    if line.simulated:
        return Content.styled("simulated", "italic $muted")
    if short and not line.ready and line.state.endswith(" is not set"):
        return Content.styled("needs a key", "$muted")
    if not line.ready:
        return one_line(row_cells.model_state(line), 60, "$muted")
    return Content.styled("ready", "$muted")


class SuiteChoices(ChoiceList):
    """Suites to tick; under a chosen one, its categories."""

    def __init__(self) -> None:
        super().__init__(_SUITES, self._cells, id="launch-suites", empty=Content("reading suites …"))
        self._suites = Suites()
        self._ticked: dict[str, frozenset[str]] = {}
        """Ticked categories by chosen suite."""

    @property
    def under_cursor(self) -> tuple[str, str]:
        """Suite and category under the cursor; an empty category for the suite's own row, no suite without a row."""
        return _suite_and_category(self.cursor or "")

    def offer(self, suites: Suites | None, ticked: Mapping[str, Collection[str]], words: str) -> None:
        """Show the suites that have these words in their name, and categories of the chosen ones.

        Args:
            suites: all suites; None while they are read.
            ticked: ticked categories by chosen suite; none are ticked where all are meant.
            words: letters that the name of a suite must have unless it is chosen.
        """
        self._suites = suites or Suites()
        self._ticked = {suite: frozenset(categories) for suite, categories in ticked.items()}
        keys: list[str] = []
        for line in self._suites.lines:
            if line.name in ticked or words.lower() in line.name.lower():
                keys.append(f"suite {line.name}")
            if line.name in ticked and len(line.categories) > 1:
                keys += [f"part {line.name}\n{part.name}" for part in line.categories]
        self.title_line.show("Suites", "space selects", f"{len(ticked)} chosen" if ticked else "")
        self.show(keys, empty=Content("No suite has these letters.") if suites else None)

    def _cells(self, key: str) -> Face:
        suite, category = _suite_and_category(key)
        line = self._suites.find(suite)
        if line is None:
            return Content.empty()
        return self._category_cells(line, category) if category else self._suite_cells(line)

    def _suite_cells(self, line: SuiteLine) -> Face:
        name = one_line(line.name, 60, "" if not line.mistake else "$muted")
        if line.mistake:
            return _box(False, possible=False), name, Content.styled("not usable", "$broken")
        ticked = self._ticked.get(line.name)
        chosen = [part for part in line.categories if ticked and part.name in ticked]
        cases = sum(part.cases for part in chosen) if chosen else line.cases
        return _box(ticked is not None, possible=True), name, Content(number_format.plural(cases, "case"))

    def _category_cells(self, line: SuiteLine, name: str) -> Face:
        ticked = self._ticked.get(line.name, frozenset[str]())
        category = next((part for part in line.categories if part.name == name), None)
        mark = Content.styled(f" {SYMBOLS.passed if name in ticked else '·'}", "$live" if name in ticked else "$muted")
        style = "$muted" if ticked and name not in ticked else ""
        count = number_format.plural(category.cases, "case") if category else ""
        return mark, Content("  ").append(one_line(name, 60, style)), Content.styled(count, "$muted")


def _suite_and_category(key: str) -> tuple[str, str]:
    kind, _, rest = key.partition(" ")
    suite, _, category = rest.partition("\n")
    return (suite, category) if kind == "part" else (rest, "")


def _box(chosen: bool, *, possible: bool) -> Content:
    if not possible:
        return Content.styled(" - ", "$muted")
    return Content.styled(f"[{SYMBOLS.chosen}]", "bold $live") if chosen else Content.styled("[ ]", "$muted")
