"""The list of cases of one category."""

from textual.content import Content

from console.core.case import Case
from console.insight import number_format
from console.tui.sanitize import literal, one_line
from console.tui.widgets.row_list import Column, Face
from console.tui.widgets.section import Section

_COLUMNS = (Column("", 22, 1), Column("", 20, 3))


class CaseList(Section):
    """Ids and questions, narrowed by words."""

    def __init__(self) -> None:
        """List nothing yet."""
        super().__init__(_COLUMNS, draw=self._face, id="cases")
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
        self._show()

    def offer(self, cases: list[Case], mistake: str) -> None:
        """Show the cases, or why they cannot be read."""
        self._all, self._mistake, self._is_read = cases, mistake, True
        self._show()

    def narrow(self, words: str) -> None:
        """Show only cases with these words in id or question."""
        self.words = words
        self._show()

    def _show(self) -> None:
        wanted = self.words.lower().split()
        kept = {
            str(place): case
            for place, case in enumerate(self._all)
            if not wanted or all(word in f"{case.id} {case.title}".lower() for word in wanted)
        }
        self._by_key = kept
        number = f"{len(kept)} of {len(self._all)}" if wanted else number_format.count(len(self._all))
        name = Content.assemble(one_line(self.suite, 30), " / ", one_line(self.category, 40))
        self.label("Cases", Content.assemble(number if self._is_read else "", "  ", name), "esc back")
        self.show(list(kept), empty=self._why_empty())

    def _why_empty(self) -> Content:
        if self._mistake:
            return literal(self._mistake, 600, "$broken")
        if not self._is_read:
            return Content("reading cases …")
        if self.words:
            return Content.assemble("No case has “", one_line(self.words, 30), "”. F shows all.")
        return Content("This category has no cases.")

    def _face(self, key: str) -> Face:
        case = self._by_key[key]
        return one_line(case.id, 100, "" if case.graded else "$muted"), one_line(case.title, 300, "$muted")
