"""Titles of panes and lists: in the border on wide screens, on a line of their own on narrow ones."""

from collections.abc import Sequence

import msgspec
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.core.case import Key
from console.tui.render import lines
from console.tui.render.columns import GAP
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS


class Rule(Static):
    """A horizontal rule, hidden on wide screens."""

    DEFAULT_CSS = """
    Rule { height: 1; color: $line; }
    """

    def render(self) -> Content:
        return Content(SYMBOLS.rule * self.size.width)


class ListTitle(Static):
    """The title of a pane; compose it just above the pane, where it is shown while the pane has no border."""

    DEFAULT_CSS = """
    ListTitle { height: 1; padding: 0 1; }
    """

    def __init__(self, pane: Widget, *, id: str | None = None) -> None:
        """Create an empty title for a pane."""
        super().__init__(id=id, classes="pane-title")
        self._pane = pane
        self._left = self._right = Content.empty()

    def show(self, title: str, number: Content | str = "", aside: Content | str = "") -> None:
        """Update the list's trusted name, the count or note next to it, and keys or a file at the right end."""
        number = number if isinstance(number, Content) else Content(number)
        aside = aside if isinstance(aside, Content) else Content(aside)
        self._pane.border_title = Content.assemble(title, "  " if number else "", number.stylize_before(MUTED))
        self._pane.border_subtitle = aside or None
        self._left = Content.assemble((title.upper(), "bold"), "  ", number.stylize_before(MUTED))
        self._right = aside.stylize_before(MUTED)
        self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        aside = lines.last_parts(self._right, width - self._left.cell_length - len(GAP), "   ")
        return lines.spread(self._left, aside, width)


class PaneTitle(Widget):
    """A rule with a name at the left and a note at the right; hidden on wide screens, where the pane has a border."""

    DEFAULT_CSS = """
    PaneTitle { height: 1; }
    """

    def __init__(self, pane: str, *, id: str | None = None) -> None:
        """Create the title of the sibling pane with the DOM id `pane`; empty for a title without a pane."""
        super().__init__(id=id, classes="pane-title")
        self.auto_links = False  # tabs look as they do in a border
        self.pane = pane
        self._names: Sequence[Content] = (Content.empty(),)
        """The name and shorter forms of it."""
        self._right = Content.empty()
        self._room: int = 0
        """Cells for a title in the border of the pane when it was last told."""

    def tell(self, left: Content, right: Content | None = None, *, briefs: Sequence[Content] = ()) -> None:
        """Update the name and note; untrusted parts must be sanitized.

        Args:
            left: the name.
            right: the note.
            briefs: shorter forms of the name; the first one that fits replaces it if it does not.
        """
        right, names = right or Content.empty(), (left, *briefs)
        pane = next((pane for pane in self.siblings if pane.id == self.pane), None) if self.pane else None
        room: int = pane.outer_size.width - BORDER_CELLS if pane is not None else 0
        is_same = len(names) == len(self._names) and all(map(same, (*names, right), (*self._names, self._right)))
        if is_same and room == self._room:
            return
        self._names, self._right, self._room = names, right, room
        self.refresh()
        if pane is not None:
            name = _fitting(names, room) if room > 0 else left
            pane.border_title = (lines.fit_parts(name, room) if room > 0 else name) or None
            pane.border_subtitle = (lines.fit_parts(right, room) if room > 0 else right) or None

    def render(self) -> Content:
        width = self.size.width
        left = Content.styled(SYMBOLS.rule, "$line")
        right = Content.assemble(" ", self._right, " ") if self._right else Content.empty()
        room = width - right.cell_length
        if name := _fitting(self._names, room - left.cell_length - 2):
            left = Content.assemble(left, " ", name.stylize_before("bold"), " ")
        if left.cell_length > room:
            left = lines.fit_parts(left.rstrip(), room)
            left = left.pad_right(int(left.cell_length < room))
        rule = Content.styled(SYMBOLS.rule * (room - left.cell_length), "$line")
        return Content("").join([left, rule, right])


BORDER_CELLS = 6
"""Cells of a border next to its title."""


def _fitting(names: Sequence[Content], room: int) -> Content:
    """Return the first form of a name that fits, or the last one."""
    return next((name for name in names if name.cell_length <= room), names[-1])


def case_title(key: Key, room: int, *, has_repeats: bool, is_repeat: bool) -> Content:
    """Return the id of a case, cut to fit `room` cells, followed by the shown repeat if there are several.

    Args:
        key: the rollout that is shown.
        room: width in cells.
        has_repeats: true if the case was played more than once.
        is_repeat: true if the reader chose this repeat; false if it stands for its case.
    """
    repeat = Content.empty()
    if has_repeats or key.rollout:
        words = f"repeat {key.rollout + 1}"
        repeat = Content.styled(f" · {words}", "bold") if is_repeat else Content.styled(f"  {words}", MUTED)
    name = one_line(str(msgspec.structs.replace(key, rollout=0)), lines.LONGEST_ID, "bold")
    return lines.fit_name(name, min(name.cell_length, max(room - repeat.cell_length, 0))).append(repeat)


def tell(widget: Static, content: Content) -> None:
    """Update a Static; the screen is laid out again only if its height may have changed."""
    before = widget.visual if isinstance(widget.visual, Content) else None
    if before is not None and same(before, content):
        return
    lines_before = before.plain.count("\n") if before is not None else -1
    # If earlier lines were wrapped, the number of lines does not determine the height.
    was_wrapped = before is not None and before.cell_length > 0 and _longest(before) > widget.content_size.width
    widget.update(content, layout=was_wrapped or lines_before != content.plain.count("\n"))


def _longest(content: Content) -> int:
    return max(line.cell_length for line in content.split("\n"))


def same(content: Content, other: Content) -> bool:
    """Return whether two contents have the same text and style; `==` compares text only."""
    return content.plain == other.plain and content.spans == other.spans
