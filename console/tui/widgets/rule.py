"""`Rule`: a line between two panes while they have no boxes."""

from textual.content import Content
from textual.widgets import Static

from console.tui.render.symbols import SYMBOLS


class Rule(Static):
    """One line across; not drawn when wide."""

    DEFAULT_CSS = """
    Rule { height: 1; color: $line; }
    """

    def render(self) -> Content:
        """Draw the line."""
        return Content(SYMBOLS.rule * self.size.width)
