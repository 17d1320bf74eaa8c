"""The lists of Library: suites, categories, models and warnings; cases of a category."""

from textual.content import Content

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.insight import number_format
from console.suites.selection import select_cases
from console.tui.data.filter_in_force import FilterInForce, has_words
from console.tui.data.suites import Suites
from console.tui.render import row_cells
from console.tui.render.columns import Column, Face, with_names
from console.tui.sanitize import literal, one_line
from console.tui.screens.library.controller import MODELS, NOTHING, SUITES, Entry, LibraryController
from console.tui.symbols import MUTED, SYMBOLS, muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import ListTitle

_ENTRY_COLUMNS = (Column("", 1), Column("", 12, 3, is_name=True), Column("", 10, 2, right=True))


class EntryList(RowList):
    """Suites and models."""

    def __init__(self, library: LibraryController) -> None:
        super().__init__(
            _ENTRY_COLUMNS, draw=self._cells, id="entries", empty=Content("reading suites and models …"), classes="pane"
        )
        self.title_line = ListTitle(self, id="entries-title")
        self._library = library
        self._entries: dict[str, Entry] = {}

    @property
    def entry(self) -> Entry:
        return self._entries.get(self.cursor or "", NOTHING)

    def show_entries(self) -> None:
        library = self._library
        self._entries = {entry.key: entry for entry in library.entries}
        cases = sum(line.cases for line in library.suites.lines) if library.suites else 0
        self.title_line.show("Library", number_format.plural(cases, "case") if cases else "", "/ filter")
        words = one_line(library.words, 30)
        empty = Content.assemble("Nothing matches “", words, "”. F shows all.") if library.words else None
        named = (entry for entry in library.entries if entry.kind != "note")
        names = (f"  {entry.category}" if entry.category else entry.name for entry in named)
        self.set_columns(with_names(_ENTRY_COLUMNS, max(map(len, names), default=0)))
        self.show(list(self._entries), fixed=frozenset((SUITES.key, MODELS.key)), empty=empty)

    def _cells(self, key: str) -> Face:
        entry = self._entries[key]
        match entry.kind:
            case "heading":
                return Content.assemble(" ", (entry.name, f"bold {MUTED}"))
            case "suite":
                return self._suite_cells(entry.name)
            case "category":
                return self._category_cells(entry)
            case "model":
                line = self._library.model(entry.name)
                return row_cells.model_cells(line)[:3] if line else Content.empty()
            case "pull":
                words = muted("not installed")
                return muted(SYMBOLS.not_ready), muted(entry.name), words
            case _:
                note = one_line(entry.name.split("\n", 1)[0], 400)
                return Content.assemble((f"{SYMBOLS.broken}  ", "bold $broken"), note)

    def _suite_cells(self, name: str) -> Face:
        line = self._library.suite(name)
        if line is None:
            return Content.empty()
        if line.mistake:
            note = Content.styled(line.obstacle, "$broken")
            return Content.styled(SYMBOLS.broken, "bold $broken"), one_line(name, 60), note
        fold = SYMBOLS.opened if name in self._library.unfolded else SYMBOLS.folded
        is_changed = name in self._library.changed_suites
        mark, style = (SYMBOLS.changed, "bold $fail") if is_changed else (fold, MUTED)
        return Content.styled(mark, style), one_line(name, 60), Content(number_format.count(line.cases))

    def _category_cells(self, entry: Entry) -> Face:
        line = self._library.suite(entry.name)
        category = next((part for part in line.categories if part.name == entry.category), None) if line else None
        count = muted(number_format.count(category.cases) if category else "")
        return Content.empty(), Content("  ").append(one_line(entry.category, 60)), count


_CASE_COLUMNS = (Column("", 22, 1, is_name=True), Column("", 20, 3, worth=16))


class CaseList(RowList):
    """Cases by id and question, filtered by words."""

    def __init__(self) -> None:
        super().__init__(_CASE_COLUMNS, draw=self._cells, id="cases", classes="pane")
        self.title_line = ListTitle(self, id="cases-title")
        self.suite = ""
        self.category = ""
        self.words = ""
        """Filter; only cases with these words are listed."""
        self._all: list[Case] = []
        self._by_key: dict[str, Case] = {}
        self._is_read = False
        self._mistake = ""

    @property
    def case(self) -> Case | None:
        return self._by_key.get(self.cursor or "")

    def expect(self, suite: str, category: str) -> None:
        """Show that the cases of a category are being read."""
        self.suite, self.category, self.words, self._mistake = suite, category, "", ""
        self._all, self._is_read = [], False
        self._show_matching()

    def set_cases(self, cases: list[Case], mistake: str) -> None:
        self._all, self._mistake, self._is_read = cases, mistake, True
        self._show_matching()

    def narrow(self, words: str) -> None:
        """Show only cases with these words in id or question."""
        self.words = words
        self._show_matching()

    @property
    def filter_in_force(self) -> FilterInForce | None:
        return FilterInForce(self.words, len(self._by_key), len(self._all)) if self.words else None

    def _show_matching(self) -> None:
        self._by_key = {
            str(number): case for number, case in enumerate(self._all) if has_words(self.words, case.id, case.title)
        }
        matching = len(self._by_key)
        number = f"{matching} of {len(self._all)}" if self.words.strip() else number_format.count(len(self._all))
        name = Content.assemble(one_line(self.suite, 30), " / ", one_line(self.category, 40))
        self.title_line.show("Cases", Content.assemble(number if self._is_read else "", "  ", name), "esc back")
        self.show(list(self._by_key), empty=self._why_empty())

    def _why_empty(self) -> Content:
        if self._mistake:
            return literal(self._mistake, 600, "$broken")
        if not self._is_read:
            return Content("reading cases …")
        if self.words:
            return Content.assemble("No case matches “", one_line(self.words, 30), "”. F shows all.")
        return Content("This category has no cases.")

    def _cells(self, key: str) -> Face:
        case = self._by_key[key]
        return one_line(case.id, 100, "" if case.graded else MUTED), one_line(case.title, 300, MUTED)


def read_cases(suites: Suites, suite: str, category: str) -> tuple[list[Case], str]:
    """Read the cases of a category, or return the error; for a thread. Untrusted text."""
    if suites.catalog is None:
        return [], ""
    try:
        return select_cases(suites.catalog.open(suite), Selection((category,)), Setting()), ""
    except UsageError as error:
        return [], str(error)
