"""`ListTitle`: the title of a list, in its box's border when wide and on a line of its own when narrow."""

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.tui.render import lines


class ListTitle(Static):
    """The title of a pane; compose it just above the pane, where it is the title while there is no box."""

    DEFAULT_CSS = """
    ListTitle { height: 1; padding: 0 1; }
    """

    def __init__(self, pane: Widget, *, id: str | None = None) -> None:
        """Make the title of a pane, empty so far."""
        super().__init__(id=id, classes="pane-title")
        self._pane = pane
        self._left = self._right = Content.empty()

    def show(self, title: str, number: Content | str = "", aside: Content | str = "") -> None:
        """Change the title.

        Args:
            title: our word for the list.
            number: a count or short note beside it.
            aside: keys or a file name at the other end.
        """
        number = number if isinstance(number, Content) else Content(number)
        aside = aside if isinstance(aside, Content) else Content(aside)
        self._pane.border_title = Content.assemble(title, "  " if number else "", number.stylize_before("$muted"))
        self._pane.border_subtitle = aside or None
        self._left = Content.assemble((title.upper(), "bold"), "  ", number.stylize_before("$muted"))
        self._right = aside.stylize_before("$muted")
        self.refresh()

    def render(self) -> Content:
        """Draw the line."""
        return lines.spread(self._left, self._right, self.content_size.width)
