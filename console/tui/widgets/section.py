"""`Section`: a list with a title, which sits in its box's border when wide and on a line of its own when narrow."""

from typing import Any

from textual.content import Content
from textual.widgets import Static

from console.tui.render import lines
from console.tui.widgets.row_list import RowList


class TitleLine(Static):
    """The title while there is no box."""

    DEFAULT_CSS = """
    TitleLine { height: 1; padding: 0 1; }
    """

    def __init__(self) -> None:
        """Start without words."""
        super().__init__(classes="pane-title")
        self._left = self._right = Content.empty()

    def tell(self, left: Content, right: Content) -> None:
        """Change what is said at both ends."""
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Content:
        """Draw the line."""
        return lines.spread(self._left, self._right, self.content_size.width)


class Section(RowList):
    """A titled list. Compose `title_line` just above it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Make an empty list without a title; arguments are those of `RowList`."""
        super().__init__(*args, classes="pane", **options)
        self.title_line = TitleLine()

    def label(self, title: str, number: Content | str = "", aside: Content | str = "") -> None:
        """Change the title.

        Args:
            title: our word for the list.
            number: a count or short note beside it.
            aside: keys or a file name at the other end.
        """
        number = number if isinstance(number, Content) else Content(number)
        aside = aside if isinstance(aside, Content) else Content(aside)
        self.border_title = Content.assemble(title, "  " if number else "", number.stylize_before("$muted"))
        self.border_subtitle = aside or None
        left = Content.assemble((title.upper(), "bold"), "  ", number.stylize_before("$muted"))
        self.title_line.tell(left, aside.stylize_before("$muted"))
