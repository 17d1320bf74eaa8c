"""Titles of panes and lists: in the box's border when the screen is wide, on a line of their own when it is narrow."""

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.tui.render import lines
from console.tui.symbols import MUTED, SYMBOLS


class Rule(Static):
    """One line across; not drawn when wide."""

    DEFAULT_CSS = """
    Rule { height: 1; color: $line; }
    """

    def render(self) -> Content:
        return Content(SYMBOLS.rule * self.size.width)


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
        self._pane.border_title = Content.assemble(title, "  " if number else "", number.stylize_before(MUTED))
        self._pane.border_subtitle = aside or None
        self._left = Content.assemble((title.upper(), "bold"), "  ", number.stylize_before(MUTED))
        self._right = aside.stylize_before(MUTED)
        self.refresh()

    def render(self) -> Content:
        return lines.spread(self._left, self._right, self.content_size.width)


class PaneTitle(Widget):
    """A rule with a name at its left and a word at its right; hidden on wide screens, where the pane has a box."""

    DEFAULT_CSS = """
    PaneTitle { height: 1; }
    """

    def __init__(self, pane: str, *, id: str | None = None) -> None:
        """Name the pane with the DOM id `pane`, which stands beside the title; empty: the title stands for itself."""
        super().__init__(id=id, classes="pane-title")
        self.pane = pane
        self._left = Content.empty()
        self._right = Content.empty()

    def tell(self, left: Content, right: Content | None = None) -> None:
        """Change name and word; foreign parts must come through `sanitize`."""
        right = right or Content.empty()
        if same(left, self._left) and same(right, self._right):
            return
        self._left, self._right = left, right
        self.refresh()
        for pane in self.siblings if self.pane else ():
            if pane.id == self.pane:
                pane.border_title = left or None
                pane.border_subtitle = right or None

    def render(self) -> Content:
        width = self.size.width
        left = Content.styled(SYMBOLS.rule, "$line")
        if self._left:
            left = Content.assemble(left, " ", self._left.stylize_before("bold"), " ")
        right = Content.assemble(" ", self._right, " ") if self._right else Content.empty()
        room = width - right.cell_length
        head = left if left.cell_length <= room else _cut(left, room)
        rule = Content.styled(SYMBOLS.rule * (room - head.cell_length), "$line")
        return Content("").join([head, rule, right])


def _cut(left: Content, room: int) -> Content:
    """Return the parts of a name that fit whole, or the first one cut."""
    end = left.plain.rfind("  ", 3, room)
    return left[:end].append(" ") if end > 0 else lines.fit(left, room)


def tell(widget: Static, content: Content) -> None:
    """Change what a Static shows; lays the screen out again only when its height may have changed."""
    before = widget.visual if isinstance(widget.visual, Content) else None
    if before is not None and same(before, content):
        return
    lines_before = before.plain.count("\n") if before is not None else -1
    # Lines made for a width that turned out smaller were wrapped, so that their number alone says too little.
    was_wrapped = before is not None and before.cell_length > 0 and _longest(before) > widget.content_size.width
    widget.update(content, layout=was_wrapped or lines_before != content.plain.count("\n"))


def _longest(content: Content) -> int:
    return max(line.cell_length for line in content.split("\n"))


def same(content: Content, other: Content) -> bool:
    """Whether two contents look the same; `==` compares their text only."""
    return content.plain == other.plain and content.spans == other.spans
