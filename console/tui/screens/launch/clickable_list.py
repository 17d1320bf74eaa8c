"""`ClickableList`: a list of the form in which a click does what space does. Enter would start the run."""

from textual import events
from textual.message import Message

from console.tui.widgets.section import Section


class ClickableList(Section):
    """The list; see the module."""

    class Picked(Message):
        """A row was clicked; the cursor is on it."""

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row, and say so; headings and empty places do nothing."""
        event.prevent_default()
        place = event.get_content_offset(self)
        index = place.y + self.scroll_offset.y if place is not None else -1
        if 0 <= index < len(self.keys) and self.move_to(self.keys[index]):
            self.focus()
            self.post_message(self.Picked())
