"""The list of cases of one category."""

from textual.content import Content

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.insight import number_format
from console.suites.selection import select_cases
from console.tui.data.catalog_items import Suites
from console.tui.sanitize import literal, one_line
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.titles import ListTitle

_COLUMNS = (Column("", 22, 1), Column("", 20, 3))


class CaseList(RowList):
    """Ids and questions, narrowed by words."""

    def __init__(self) -> None:
        super().__init__(_COLUMNS, draw=self._cells, id="cases", classes="pane")
        self.title_line = ListTitle(self, id="cases-title")
        self.suite = ""
        self.category = ""
        self.words = ""
        """Only cases with these words are shown."""
        self._all: list[Case] = []
        self._by_key: dict[str, Case] = {}
        self._is_read = False
        self._mistake = ""

    @property
    def case(self) -> Case | None:
        """The case under the cursor."""
        return self._by_key.get(self.cursor or "")

    def expect(self, suite: str, category: str) -> None:
        """Show that the cases of a category are being read."""
        self.suite, self.category, self.words, self._mistake = suite, category, "", ""
        self._all, self._is_read = [], False
        self._show_matching()

    def set_cases(self, cases: list[Case], mistake: str) -> None:
        """Show the cases, or why they cannot be read."""
        self._all, self._mistake, self._is_read = cases, mistake, True
        self._show_matching()

    def narrow(self, words: str) -> None:
        """Show only cases with these words in id or question."""
        self.words = words
        self._show_matching()

    def _show_matching(self) -> None:
        words = self.words.lower().split()
        self._by_key = {
            str(number): case
            for number, case in enumerate(self._all)
            if all(word in f"{case.id} {case.title}".lower() for word in words)
        }
        matching = len(self._by_key)
        number = f"{matching} of {len(self._all)}" if words else number_format.count(len(self._all))
        name = Content.assemble(one_line(self.suite, 30), " / ", one_line(self.category, 40))
        self.title_line.show("Cases", Content.assemble(number if self._is_read else "", "  ", name), "esc back")
        self.show(list(self._by_key), empty=self._why_empty())

    def _why_empty(self) -> Content:
        if self._mistake:
            return literal(self._mistake, 600, "$broken")
        if not self._is_read:
            return Content("reading cases …")
        if self.words:
            return Content.assemble("No case has “", one_line(self.words, 30), "”. F shows all.")
        return Content("This category has no cases.")

    def _cells(self, key: str) -> Face:
        case = self._by_key[key]
        return one_line(case.id, 100, "" if case.graded else "$muted"), one_line(case.title, 300, "$muted")


def read_cases(suites: Suites, suite: str, category: str) -> tuple[list[Case], str]:
    """Read the cases of a category, and why they cannot be read, if so; for a thread. Foreign text."""
    if suites.catalog is None:
        return [], ""
    try:
        return select_cases(suites.catalog.open(suite), Selection((category,)), Setting()), ""
    except UsageError as error:
        return [], str(error)
