"""`CasePreview`: the first case of the suite (or category) under the cursor, as it will be played."""

from textual.content import Content

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.selection import select_cases
from console.tui.data.catalog_items import Suites
from console.tui.render.catalog_details import case_blocks
from console.tui.sanitize import literal, one_line
from console.tui.widgets.transcript import Transcript


class CasePreview(Transcript):
    """One case in a box."""

    def __init__(self) -> None:
        super().__init__(id="preview", classes="pane", empty=Content("The first case of the suite under the cursor."))
        self.border_title = Content("First case")
        self._pointed_at = ("", "")
        self._cases: dict[tuple[str, str], Case | str] = {}
        """What was read so far, by suite and category; a text where there is no case."""

    def point_at(self, suite: str, category: str) -> bool:
        """Show the first case of a suite or category as soon as it is known; return whether it must be read first."""
        self._pointed_at = (suite, category)
        if self._pointed_at in self._cases:
            self._show_case()
            return False
        return bool(suite)

    def set_case(self, suite: str, category: str, case: Case | str) -> None:
        """Take the first case of a suite or category, or why there is none. Foreign text."""
        self._cases[suite, category] = case
        if (suite, category) == self._pointed_at and self.is_mounted:
            self._show_case()

    def _show_case(self) -> None:
        suite, category = self._pointed_at
        case = self._cases[self._pointed_at]
        name = Content.assemble(one_line(suite, 40), "/" if category else "", one_line(category, 40))
        self.border_title = Content.assemble("First case  ", name.stylize_before("$muted"))
        if isinstance(case, Case):
            self.show(case_blocks(case, suite))
        else:
            self._empty = literal(case, 400)
            self.show([])


def read_first_case(suites: Suites, suite: str, category: str) -> Case | str:
    """Read the first graded case of a suite or category, or say why there is none; for a thread. Foreign text."""
    line = suites.find(suite)
    if suites.catalog is None or line is None:
        return ""
    first_category = category or (line.categories[0].name if line.categories else "")
    try:
        selection = Selection((first_category,) if first_category else (), limit=1)
        cases = select_cases(suites.catalog.open(suite), selection, Setting())
    except UsageError as error:
        return str(error)
    return next((case for case in cases if case.graded), cases[0]) if cases else "It holds no case."
