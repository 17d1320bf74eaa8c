"""`SuiteChoices`: the list of suites of the form, with the categories of those that are chosen."""

from collections.abc import Collection, Mapping

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import SuiteLine, Suites
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.launch.choice_list import ChoiceList, tick_box
from console.tui.widgets.row_list import Column, Face

_COLUMNS = (Column("", 3), Column("", 12, 3), Column("", 14, 1, right=True))


class SuiteChoices(ChoiceList):
    """Suites to tick; under a chosen one, its categories."""

    def __init__(self) -> None:
        super().__init__(_COLUMNS, self._cells, id="launch-suites", empty=Content("reading suites …"))
        self._suites = Suites()
        self._ticked: dict[str, frozenset[str]] = {}
        """Ticked categories by chosen suite."""

    @property
    def under_cursor(self) -> tuple[str, str]:
        """Suite and category under the cursor; an empty category for the suite's own row, no suite without a row."""
        return _suite_and_category(self.cursor or "")

    def set_suites(self, suites: Suites | None, ticked: Mapping[str, Collection[str]], words: str) -> None:
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
            return tick_box(False, possible=False), name, Content.styled("not usable", "$broken")
        ticked = self._ticked.get(line.name)
        chosen = [part for part in line.categories if ticked and part.name in ticked]
        cases = sum(part.cases for part in chosen) if chosen else line.cases
        return tick_box(ticked is not None, possible=True), name, Content(number_format.plural(cases, "case"))

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
