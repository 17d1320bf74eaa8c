"""Choices of the launch form: models, suites with categories, and a preview of a case.

A click selects or edits like space, since enter would start the run.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from textual import events
from textual.content import Content
from textual.message import Message

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.insight import number_format
from console.suites.selection import select_cases
from console.tui.data.models import ModelLine, Models
from console.tui.data.suites import Suites
from console.tui.render import lines, row_cells
from console.tui.render.catalog_details import case_blocks
from console.tui.render.columns import Column, Face, with_names
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.suite_tree import Mark, Part, Row, SuiteTree
from console.tui.symbols import MUTED, SYMBOLS, muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import ListTitle
from console.tui.widgets.transcript import Transcript


class ChoiceList(RowList):
    """A titled list with clickable rows."""

    class RowClicked(Message):
        """The row under the cursor of the focused list was clicked."""

    def __init__(
        self, columns: Sequence[Column], draw: Callable[[str], Face], *, id: str, empty: Content | None = None
    ) -> None:
        super().__init__(columns, draw=draw, quiet=True, id=id, classes="pane", empty=empty)
        self.title_line = ListTitle(self)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row and post `RowClicked`."""
        event.prevent_default()
        if self._pressed is not None and self.move_to(self._pressed):
            self.focus()
            self.post_message(self.RowClicked())


def has_letters(words: str, name: str) -> bool:
    """Return whether a name contains the filter's letters, ignoring case."""
    return words.lower() in name.lower()


def tick_box(chosen: bool, *, possible: bool) -> Content:
    """Return a check box, or a dash if the item cannot be chosen."""
    if not possible:
        return muted(" - ")
    return Content.styled(f"[{SYMBOLS.chosen}]", "bold $live") if chosen else muted("[ ]")


_MODEL_COLUMNS = (Column("", 3), Column("", 10, 2, is_name=True), Column("", 9, 3))


class ModelChoices(ChoiceList):
    """Models to select; those without an API key show what is missing."""

    def __init__(self) -> None:
        super().__init__(_MODEL_COLUMNS, self._cells, id="launch-models", empty=Content("reading models …"))
        self._models = Models()
        self._chosen: Collection[str] = ()

    def set_models(self, models: Models | None, chosen: Collection[str], words: str) -> None:
        """Show chosen and matching models; None while models are being read."""
        self._models, self._chosen = models or Models(), frozenset(chosen)
        lines = self._models.lines
        names = [line.name for line in lines if line.name in self._chosen or has_letters(words, line.name)]
        self.title_line.show("Models", "space selects", f"{len(self._chosen)} chosen" if self._chosen else "")
        self.set_columns(with_names(_MODEL_COLUMNS, max(map(len, names), default=0)))
        self.show(names, empty=Content("No matching model.") if models else None)

    def _cells(self, key: str) -> Face:
        line = self._models.find(key)
        if line is None:
            return Content.empty()
        name = one_line(line.name, 60, "" if line.ready else MUTED)
        return tick_box(line.name in self._chosen, possible=line.ready), name, _model_note(line, short=self.room < 60)


def _model_note(line: ModelLine, *, short: bool) -> Content:
    """Return the model's state, shortened if `short`."""
    if line.simulated:
        return Content.styled("simulated", "italic $muted")
    if short and not line.ready and line.state.endswith(" is not set"):
        return muted("needs a key")
    if not line.ready:
        return one_line(row_cells.model_state(line), 60, MUTED)
    return muted("ready")


class SuiteChoices(ChoiceList):
    """Suites to select, as a tree of groups and categories."""

    def __init__(self) -> None:
        super().__init__((), self._line, id="launch-suites", empty=Content("reading suites …"))
        self.suite_tree = SuiteTree()
        self._rows: dict[str, Row] = {}

    @property
    def under_cursor(self) -> Part | None:
        row = self._rows.get(self.cursor or "")
        return row.part if row is not None else None

    def set_suites(self, suites: Suites | None, ticked: Mapping[str, Collection[str]], words: str) -> None:
        """Show the tree of suites (None while they are read) by ticked categories and the letters of their names."""
        self.suite_tree.lines = suites.lines if suites is not None else ()
        before = self.under_cursor
        self._rows = {row.part.key: row for row in self.suite_tree.rows(ticked, words)}
        self.title_line.show("Suites", "space selects, x opens", f"{len(ticked)} chosen" if ticked else "")
        why = suites.warnings if suites is not None and not suites.lines else []
        empty = literal(why[0], 400, "$broken") if why else Content("No matching suite.")
        self.show(list(self._rows), empty=empty if suites else None)
        if before is not None and before.key not in self._rows:  # folded: move to its visible parent
            nearest_above = (part.key for part in before.above if part.key in self._rows)
            self.move_to(next(nearest_above, self.cursor or ""))

    def _line(self, key: str) -> Face:
        row = self._rows.get(key)
        if row is None:
            return Content.empty()
        part = row.part
        box = _tree_box(row)
        fold = f"{SYMBOLS.opened if row.is_unfolded else SYMBOLS.folded} " if row.parts else "  "
        style = MUTED if row.obstacle or (part.category and row.mark is Mark.NONE) else ""
        name = Content.assemble("  " * row.depth, box, " ", (fold, MUTED), one_line(part.name, 60, style))
        count = Content.styled(_case_count(row), "" if row.mark is not Mark.NONE else MUTED)
        if row.obstacle:
            count = Content.styled(row.obstacle, "$broken")
        room = self.room - CURSOR_CELLS
        if part.group and not part.category:
            whole = name.append_text(f" · {row.parts} categor{'y' if row.parts == 1 else 'ies'}", MUTED)
            name = whole if whole.cell_length <= lines.room_beside(count, room) else name
        return lines.spread(name, count, room)


CURSOR_CELLS = 2
"""Width in cells of the cursor column."""


def _tree_box(row: Row) -> Content:
    if row.obstacle:
        return tick_box(False, possible=False)
    if row.mark is Mark.SOME:
        return Content.styled("[~]", "bold $live")
    return tick_box(row.mark is Mark.ALL, possible=True)


def _case_count(row: Row) -> str:
    """Return the number of cases, preceded by the number chosen if that is a part."""
    whole = number_format.count(row.cases)
    return f"{number_format.count(row.chosen_cases)} of {whole}" if row.mark is Mark.SOME else whole


class CasePreview(Transcript):
    """The first case of a suite or category, in a box."""

    def __init__(self) -> None:
        super().__init__(id="preview", classes="pane", empty=Content("The first case of the suite under the cursor."))
        self.border_title = Content("First case")
        self._pointed_at = ("", "")
        self._cases: dict[tuple[str, str], Case | str] = {}
        """Cases read so far, by suite and category; a string is the reason for a missing case."""

    def point_at(self, suite: str, category: str) -> bool:
        """Show the first case of a suite or category if it is known; return whether it must be read, perhaps again."""
        self._pointed_at = (suite, category)
        known = self._cases.get(self._pointed_at)
        if known is not None:
            self._show_case()
        return bool(suite) and not isinstance(known, Case)  # what was refused may be allowed meanwhile

    def set_case(self, suite: str, category: str, case: Case | str) -> None:
        """Set the first case of a suite or category, or why there is none. Untrusted text."""
        self._cases[suite, category] = case
        if (suite, category) == self._pointed_at and self.is_mounted:
            self._show_case()

    def _show_case(self) -> None:
        suite, category = self._pointed_at
        case = self._cases[self._pointed_at]
        name = Content.assemble(one_line(suite, 40), "/" if category else "", one_line(category, 40))
        self.border_title = Content.assemble("First case  ", name.stylize_before(MUTED))
        if isinstance(case, Case):
            self.show(case_blocks(case, suite))
        else:
            self._empty = literal(case, 400)
            self.show([])


def read_first_case(suites: Suites, suite: str, category: str) -> Case | str:
    """Read the first graded case of a suite or category, or return why there is none; for a thread. Untrusted text."""
    line = suites.find(suite)
    if suites.catalog is None or line is None:
        return ""
    first_category = category or (line.categories[0].name if line.categories else "")
    try:
        selection = Selection((first_category,) if first_category else (), limit=1)
        cases = select_cases(suites.catalog.open(suite), selection, Setting())
    except UsageError as error:
        return str(error)
    return next((case for case in cases if case.graded), cases[0]) if cases else "It has no cases."
