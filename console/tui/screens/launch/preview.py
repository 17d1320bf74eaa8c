"""`CasePreview`: the first case of the suite (or category) under the cursor, as it will be played."""

from functools import partial

from textual.content import Content

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.selection import select_cases
from console.tui.data.workspace import Workspace
from console.tui.sanitize import literal, one_line
from console.tui.screens.library.details import case_sheet
from console.tui.widgets.transcript import Transcript

_Spot = tuple[str, str]
"""Suite and category; an empty category for all of them."""


class CasePreview(Transcript):
    """The preview; see the module."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(id="preview", classes="pane", empty=Content("The first case of the suite under the cursor."))
        self.border_title = Content("First case")
        self._spot: _Spot = ("", "")
        self._read: dict[_Spot, Case | str] = {}

    def offer(self, workspace: Workspace, suite: str, category: str = "") -> None:
        """Show the first case of a suite or category, once it is read."""
        self._spot = (suite, category)
        if self._spot in self._read:
            self._show()
        elif suite and workspace.suites is not None:
            workspace.in_thread(partial(self._look, workspace, self._spot))

    def _look(self, workspace: Workspace, spot: _Spot) -> None:
        catalog = workspace.suites.catalog if workspace.suites else None
        line = workspace.suites.find(spot[0]) if workspace.suites else None
        found: Case | str = ""
        if catalog is not None and line is not None:
            part = spot[1] or (line.categories[0].name if line.categories else "")
            try:
                cases = select_cases(catalog.open(spot[0]), Selection((part,) if part else (), limit=1), Setting())
                found = next((case for case in cases if case.graded), cases[0]) if cases else "It holds no case."
            except UsageError as error:
                found = str(error)
        workspace.hand_over(self._take, spot, found)

    def _take(self, spot: _Spot, found: Case | str) -> None:
        self._read[spot] = found
        if spot == self._spot and self.is_mounted:
            self._show()

    def _show(self) -> None:
        suite, category = self._spot
        found = self._read[self._spot]
        name = Content.assemble(one_line(suite, 40), "/" if category else "", one_line(category, 40))
        self.border_title = Content.assemble("First case  ", name.stylize_before("$muted"))
        if isinstance(found, Case):
            self.show(case_sheet(found, suite))
        else:
            self._empty = literal(found, 400)
            self.show([])
