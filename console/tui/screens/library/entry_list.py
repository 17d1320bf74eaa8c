"""The list of Library: suites with their categories, what a pull could bring, models, and what is wrong with either."""

from collections.abc import Collection, Sequence

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import Models, Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.library.controller import MODELS, NOTHING, SUITES, Entry
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.titles import ListTitle

_COLUMNS = (Column("", 1), Column("", 12, 3), Column("", 10, 2, right=True))


class EntryList(RowList):
    """Suites and models."""

    def __init__(self) -> None:
        super().__init__(
            _COLUMNS, draw=self._cells, id="entries", empty=Content("reading suites and models …"), classes="pane"
        )
        self.title_line = ListTitle(self, id="entries-title")
        self._suites, self._models = Suites(), Models()
        self._entries: dict[str, Entry] = {}
        self._changed: Collection[str] = ()
        self._unfolded: Collection[str] = ()

    @property
    def entry(self) -> Entry:
        """What is under the cursor."""
        return self._entries.get(self.cursor or "", NOTHING)

    def set_entries(
        self,
        entries: Sequence[Entry],
        suites: Suites | None,
        models: Models | None,
        *,
        words: str,
        changed: Collection[str],
        unfolded: Collection[str],
    ) -> None:
        """Show entries.

        Args:
            entries: in order, headings among them.
            suites: all suites; None while they are read.
            models: all models; None while they are read.
            words: the words that all entries have.
            changed: suites whose files are not what was pulled.
            unfolded: suites whose categories are among the entries.
        """
        self._suites, self._models = suites or Suites(), models or Models()
        self._changed, self._unfolded = changed, frozenset(unfolded)
        self._entries = {entry.key: entry for entry in entries}
        cases = sum(line.cases for line in self._suites.lines)
        self.title_line.show("Library", number_format.plural(cases, "case") if cases else "", "/ narrow")
        empty = Content.assemble("Nothing here has “", one_line(words, 30), "”. F shows all.") if words else None
        self.show(list(self._entries), fixed=frozenset((SUITES.key, MODELS.key)), empty=empty)

    def _cells(self, key: str) -> Face:
        entry = self._entries[key]
        match entry.kind:
            case "heading":
                return Content.assemble(" ", (entry.name, "bold $muted"))
            case "suite":
                return self._suite_cells(entry.name)
            case "category":
                return self._category_cells(entry)
            case "model":
                line = self._models.find(entry.name)
                return row_cells.model_cells(line)[:3] if line else Content.empty()
            case "pull":
                words = Content.styled("not here yet", "$muted")
                return Content.styled(SYMBOLS.not_ready, "$muted"), Content.styled(entry.name, "$muted"), words
            case _:
                note = one_line(entry.name.split("\n", 1)[0], 400)
                return Content.assemble((f"{SYMBOLS.broken}  ", "bold $broken"), note)

    def _suite_cells(self, name: str) -> Face:
        line = self._suites.find(name)
        if line is None:
            return Content.empty()
        if line.mistake:
            note = Content.styled("not usable", "$broken")
            return Content.styled(SYMBOLS.broken, "bold $broken"), one_line(name, 60), note
        fold = SYMBOLS.opened if name in self._unfolded else SYMBOLS.folded
        mark, style = (SYMBOLS.changed, "bold $fail") if name in self._changed else (fold, "$muted")
        return Content.styled(mark, style), one_line(name, 60), Content(number_format.count(line.cases))

    def _category_cells(self, entry: Entry) -> Face:
        line = self._suites.find(entry.name)
        category = next((part for part in line.categories if part.name == entry.category), None) if line else None
        count = Content.styled(number_format.count(category.cases) if category else "", "$muted")
        return Content.empty(), Content("  ").append(one_line(entry.category, 60)), count
