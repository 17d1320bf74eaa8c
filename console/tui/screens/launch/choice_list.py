"""`ChoiceList`: a list of the form, in which a click chooses or edits as space does. Enter would start the run."""

from collections.abc import Callable, Sequence

from textual import events
from textual.content import Content
from textual.message import Message

from console.tui.render.symbols import SYMBOLS
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.titles import ListTitle


class ChoiceList(RowList):
    """A titled list with rows to click."""

    class RowClicked(Message):
        """A row was clicked; the cursor is on it, and the list has the focus."""

    def __init__(
        self, columns: Sequence[Column], draw: Callable[[str], Face], *, id: str, empty: Content | None = None
    ) -> None:
        """Make an empty list without a title; arguments are those of `RowList`."""
        super().__init__(columns, draw=draw, quiet=True, id=id, classes="pane", empty=empty)
        self.title_line = ListTitle(self)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row, and say so; headings and empty places do nothing."""
        event.prevent_default()
        offset = event.get_content_offset(self)
        index = offset.y + self.scroll_offset.y if offset is not None else -1
        if 0 <= index < len(self.keys) and self.move_to(self.keys[index]):
            self.focus()
            self.post_message(self.RowClicked())


def tick_box(chosen: bool, *, possible: bool) -> Content:
    """Return the box of something that can be chosen, ticked if it is; a stroke where it cannot be."""
    if not possible:
        return Content.styled(" - ", "$muted")
    return Content.styled(f"[{SYMBOLS.chosen}]", "bold $live") if chosen else Content.styled("[ ]", "$muted")
