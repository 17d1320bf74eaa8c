"""`CaseListPane`: the list of cases in groups, with its title; says which row the cursor is on and which was opened."""

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.tui.screens.review.case_rows import COLUMNS
from console.tui.widgets.row_list import Face, RowList
from console.tui.widgets.titles import PaneTitle


class CaseListPane(Vertical):
    """Shows rows by key; knows nothing of cases."""

    class RowEntered(Message):
        """The cursor came to rest on another row."""

        def __init__(self, key: str) -> None:
            """Name the row."""
            super().__init__()
            self.key = key

    class CaseOpened(Message):
        """The reader chose the row under the cursor."""

    def __init__(self) -> None:
        """Show that the run is being read."""
        super().__init__(id="list-side")
        self.rows = RowList(COLUMNS, id="list", classes="pane", empty=Content("reading the run …"))
        self._title = PaneTitle("list", id="list-caption")

    def compose(self) -> ComposeResult:
        """Lay out title and rows."""
        yield self._title
        yield self.rows

    def show(
        self,
        keys: Sequence[str],
        fixed: set[str],
        draw: Callable[[str, int], Face],
        *,
        cursor: str | None,
        empty: Content,
    ) -> None:
        """Show rows.

        Args:
            keys: all rows in order.
            fixed: rows that the cursor passes over.
            draw: draws a row in so many cells.
            cursor: row that the cursor goes to; None leaves it.
            empty: shown when there is no row.
        """
        self.rows.show(keys, draw=lambda key: draw(key, self._row_width), fixed=fixed, empty=empty)
        if cursor is not None:
            self.rows.move_to(cursor)

    @property
    def cursor(self) -> str | None:
        """The row under the cursor."""
        return self.rows.cursor

    @property
    def _row_width(self) -> int:
        return self.rows.scrollable_content_region.width

    def move_to(self, key: str) -> None:
        """Move the cursor."""
        self.rows.move_to(key)

    def set_title(self, title: Content, hint: Content) -> None:
        """Say what is listed."""
        self._title.tell(title, hint)

    @on(RowList.RowHighlighted)
    def _enter_row(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if not isinstance(event, RowList.RowChosen):
            self.post_message(self.RowEntered(event.key))

    @on(RowList.RowChosen)
    def _open_case(self, event: RowList.RowChosen) -> None:
        event.stop()
        self.post_message(self.CaseOpened())
