"""`RowList`: a list of any length that draws only visible rows and keeps its cursor on a key, not on an index.

Rows are a sequence of keys and a function that draws the row of a key, called only for visible rows, so that 100,000
rows open at once. When the keys change, the cursor stays on its key and its row on the same line of the screen. Foreign
text must be sanitized (`console.tui.sanitize`); this widget never parses markup.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.style import Style

from console.tui.keymap import bindings_for
from console.tui.render import columns as layout
from console.tui.render import lines
from console.tui.render.columns import Column, Face
from console.tui.symbols import MUTED, SYMBOLS, muted
from console.tui.textual_patches import style_getter
from console.tui.themes import has_black_on_white_cursor, is_ansi
from console.tui.widgets.viewport import Viewport

GUTTER = 2
"""Width of the cursor beside the cells of a row."""


class RowList(Viewport):
    """A virtual list with a cursor, columns and optional selection marks."""

    where: ClassVar[str] = "rows"
    """Name of the list in the action table."""
    BINDINGS: ClassVar = bindings_for(where)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--cursor-away", "rows--names", "rows--empty"}
    DEFAULT_CSS = """
    RowList {
        & > .rows--cursor { background: $cursor; color: $cursor-text; text-style: bold; }
        & > .rows--cursor-away { background: $cursor-away; color: $cursor-away-text; }
        & > .rows--names { color: $muted; }
        & > .rows--empty { color: $muted; }
        &:ansi > .rows--cursor { background: ansi_default; color: ansi_default; text-style: bold; }
    }
    """

    @dataclass
    class RowHighlighted(Message):
        """The cursor is on another row."""

        rows: "RowList"
        key: str
        is_moved: bool = True
        """True if the cursor was moved; False if its former row is gone."""

        @property
        def control(self) -> "RowList":
            """The list, for `@on` selectors."""
            return self.rows

        @property
        def is_stale(self) -> bool:
            """Whether the row has left the list since; then no screen handles the message."""
            return self.rows.place_of(self.key) is None

    class RowChosen(RowHighlighted):
        """A row was opened by enter, or by a click on the cursor row."""

    @dataclass
    class EndReached(Message):
        """A key was pressed to move beyond the last row or before the first."""

        rows: "RowList"
        step: int

        @property
        def control(self) -> "RowList":
            """The list, for `@on` selectors."""
            return self.rows

    class RowMarked(RowHighlighted):
        """A row was selected or deselected; see `RowList.marked`."""

    def __init__(
        self,
        columns: Sequence[Column] = (),
        *,
        draw: Callable[[str], Face] | None = None,
        empty: Content | None = None,
        names: bool = False,
        gutter: bool = True,
        selectable: bool = False,
        quiet: bool = False,
        newest_first: bool = False,
        steered: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Create an empty list.

        Args:
            columns: layout of the cells.
            draw: draws the row of a key; may be set later with `show`.
            empty: text shown without rows: the reason, and the key to press.
            names: whether the first line has the column names.
            gutter: whether to show the cursor in two cells on the left: `>`, or a dot without the focus.
            selectable: whether space selects rows, shown by a checkbox.
            quiet: whether to hide the cursor while another widget has the focus.
            newest_first: whether the cursor stays on the first row until it is moved.
            steered: whether keys move its cursor while another widget, such as an input, has the focus.
            id: DOM id.
            classes: DOM classes.
        """
        super().__init__(id=id, classes=classes)
        self.columns = tuple(columns)
        self.marked: set[str] = set()
        """Keys of the selected rows."""
        self._draw: Callable[[str], Face] = draw or Content
        self._empty = empty or Content.empty()
        self._names = names
        self._gutter = gutter
        self._selectable = selectable
        self._quiet = quiet
        self._steered = steered
        self._is_unmoved = newest_first
        self._keys: Sequence[str] = ()
        self.place_of: Callable[[str], int | None] = dict[str, int]().get
        """Returns the index of a key; None if there is no such row."""
        self._fixed: Container[str] = frozenset()
        self._cursor: int | None = None
        self._ids = layout.LongIds()
        self._last_page = 1
        """Number of visible rows before the size changed; Textual may set the new one before `apply_size`."""
        self._pressed: str | None = None
        """Key of the row on which the mouse button was pressed."""

    # What is shown ---------------------------------------------------------------------------------------------------

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    @property
    def cursor(self) -> str | None:
        """The key under the cursor; None if no row can have the cursor."""
        return None if self._cursor is None else self._keys[self._cursor]

    def show(
        self,
        keys: Sequence[str],
        *,
        draw: Callable[[str], Face] | None = None,
        fixed: Container[str] = frozenset(),
        empty: Content | None = None,
        place_of: Callable[[str], int | None] | None = None,
    ) -> None:
        """Replace the rows; the cursor stays on its key, or else on its index.

        Args:
            keys: unique keys of the rows.
            place_of: returns the index of a key, or None; needed if building a table of all keys takes too long.
            draw: new function to draw rows; None keeps the old one.
            fixed: keys of headings, which the cursor skips.
            empty: new text for the empty list; None keeps the old one.
        """
        before, place = self.cursor, self._cursor
        line = None if place is None else place - self.scroll_offset.y
        self._keys, self._fixed = keys, fixed
        self.place_of = place_of or {key: index for index, key in enumerate(keys)}.get
        self._draw = draw or self._draw
        self._empty = self._empty if empty is None else empty
        self._strips.clear()
        self._ids.starts.clear()
        self.set_length(len(keys) + self._names)
        self._cursor = None if before is None or self._is_unmoved else self.place_of(before)
        if self._is_unmoved:
            self._cursor = self._nearest(0, 1)
        elif self._cursor is None:
            self._cursor = self._nearest(min(place or 0, len(keys) - 1), 1)
        elif line is not None and self._cursor != place:
            self.go_to(self._cursor - line if line else self._with_headings(self._cursor))
        self.refresh()
        if self.cursor is not None and self.cursor != before:
            self._announce(is_moved=False)

    def touch(self, *keys: str) -> None:
        """Redraw rows whose data changed; without keys, all visible rows."""
        if not keys:
            self.redraw()
            return
        stale = set(keys)
        for drawn in [drawn for drawn in self._strips.keys() if drawn[0] in stale]:  # noqa: SIM118  no mapping
            self._strips.discard(drawn)
        top = self.scroll_offset.y
        for place, key in enumerate(self._keys[top : top + self.page], top):
            if key in stale:
                self.refresh_line(place + self._names)

    def set_columns(self, columns: Sequence[Column], *, names: bool | None = None) -> None:
        """Set the columns, and whether the first line has their names (None to keep that)."""
        self.columns = tuple(columns)
        if names is not None and names != self._names:
            self._names = names
            self.set_length(len(self._keys) + names)
        self.touch()

    # The cursor ------------------------------------------------------------------------------------------------------

    def move_to(self, key: str) -> bool:
        """Move the cursor to a key and scroll it into view; return False if there is no such row."""
        place = self.place_of(key)
        if place is None or key in self._fixed:
            return False
        self._go(place)
        return True

    def move_by(self, step: int) -> None:
        """Move the cursor by a number of rows, skipping headings."""
        if self._cursor is None:
            return
        before = self._cursor
        target = max(0, min(before + step, len(self._keys) - 1))
        self._go(self._nearest(target, 1 if step > 0 else -1))
        if self._cursor == before and abs(step) == 1:
            self.post_message(self.EndReached(self, step))

    def move_to_first(self) -> None:
        """Move to the first row that is not a heading, and scroll to the top."""
        self._go(self._nearest(0, 1))
        self.go_to(0)

    def move_to_last(self) -> None:
        """Move to the last row that is not a heading."""
        self._go(self._nearest(len(self._keys) - 1, -1))

    def action_open(self) -> None:
        if self.cursor is not None:
            self.post_message(self.RowChosen(self, self.cursor))

    def action_select(self) -> None:
        if self._selectable and self.cursor is not None:
            self.toggle(self.cursor)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the screen handle space if rows cannot be selected."""
        return self._selectable if action == "select" else True

    def toggle(self, key: str) -> None:
        """Select or deselect a row."""
        self.marked ^= {key}
        self.touch(key)
        self.post_message(self.RowMarked(self, key))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Note the row under the pointer; the focus may move it before the button is released."""
        line = event.get_content_offset_capture(self).y
        index = line + self.scroll_offset.y - self._names
        is_row = line >= self._names and 0 <= index < len(self._keys) and self._keys[index] not in self._fixed
        self._pressed = self._keys[index] if is_row else None

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row and toggle its selection; if not selectable, open the cursor row."""
        index = self.place_of(self._pressed) if self._pressed is not None else None
        if index is None:
            return
        if self._selectable:
            self._go(index)
            self.toggle(self._keys[index])
        elif index == self._cursor:
            self.action_open()
        else:
            self._go(index)

    def on_focus(self) -> None:
        self._redraw(self._cursor)

    def on_blur(self) -> None:
        self._redraw(self._cursor)

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def page(self) -> int:
        """Number of visible rows."""
        return max(super().page - self._names, 1)

    def render_line(self, y: int) -> Strip:
        width = self.room
        base = self.visual_style
        if not self._keys:
            style = self.get_visual_style("rows--empty")
            return lines.sentence_line(self._empty, y, width, style, style_getter(self))
        if self._names and y == 0:
            style = self.get_visual_style("rows--names")
            return lines.strip_of(self._names_line(width), width, style, style_getter(self))
        index = self.scroll_offset.y + y - self._names
        if index >= len(self._keys):
            return Strip.blank(width, base.rich_style)
        return self._row(index, width, base)

    def _row(self, index: int, width: int, base: Style) -> Strip:
        key = self._keys[index]
        state = (index == self._cursor, self.has_focus or self._steered, key in self.marked)
        if (strip := self._strips.get((key, width, state))) is not None:
            return strip
        is_cursor, has_focus, _ = state
        is_cursor = is_cursor and (has_focus or not self._quiet)
        if is_cursor:
            name = "rows--cursor" if has_focus else "rows--cursor-away"
            base = self.get_visual_style(name)
            if has_focus and is_ansi(self):
                base += Style(reverse=True)
        content = self._compose_row(key, is_cursor, width)
        black_on_white = (
            has_black_on_white_cursor(self) and base.background == style_getter(self)("on $cursor").background
        )
        if is_cursor and ((is_ansi(self) and has_focus) or black_on_white):
            content = Content(content.plain)  # uniform style; symbols and words carry the meaning of colors
        strip = lines.strip_of(content, width, base, style_getter(self))
        self._strips[(key, width, state)] = strip
        return strip

    def _compose_row(self, key: str, is_cursor: bool, width: int) -> Content:
        face = self._draw(key)
        prefix = self._prefix(key, is_cursor)
        if isinstance(face, Content):
            whole = prefix.append(face) if key not in self._fixed else face
            return lines.fit(whole, width)
        room, place = width - prefix.cell_length, self.place_of(key) or 0
        cells = self._ids.told_apart(
            self.columns, face, room, place, lambda first, end: map(self._draw, self._keys[first:end])
        )
        return prefix.append(layout.row(self.columns, cells, room))

    def _prefix(self, key: str, is_cursor: bool) -> Content:
        parts: list[Content] = []
        if self._gutter:
            # Only one list on the screen has an active cursor.
            is_active = self.has_focus or self._steered
            sign = Content.styled("> ", "bold $focus") if is_active else muted(f"{SYMBOLS.not_run} ")
            parts.append(sign if is_cursor else Content("  "))
        if self._selectable and key not in self._fixed:
            chosen = key in self.marked
            parts.append(Content.styled(f"[{SYMBOLS.chosen if chosen else ' '}] ", "bold $live" if chosen else MUTED))
        return Content("").join(parts)

    def _names_line(self, width: int) -> Content:
        indent = GUTTER * self._gutter + 4 * self._selectable
        names = [Content(column.name) for column in self.columns]
        return Content(" " * indent).append(layout.row(self.columns, names, width - indent))

    # Moving ----------------------------------------------------------------------------------------------------------

    def _nearest(self, index: int, step: int) -> int | None:
        """Return the nearest row that is not a heading, searching first in the direction of `step`."""
        for direction in (step, -step):
            place = index
            while 0 <= place < len(self._keys):
                if self._keys[place] not in self._fixed:
                    return place
                place += direction
        return None

    def _go(self, index: int | None) -> None:
        if index is None:
            return
        self._is_unmoved = False
        before, self._cursor = self._cursor, index
        self._bring_into_view(index)
        if before != index:
            self._redraw(before, index)
            self._announce()

    def _bring_into_view(self, index: int | None = None) -> None:
        """Scroll as little as is needed to show a row, by default that of the cursor."""
        top, page = self.scroll_offset.y, self.page
        index = self._cursor if index is None else index
        if index is None:
            return
        if (first := self._with_headings(index)) < top:
            self.go_to(first)
        elif index >= top + page:
            self.go_to(index - page + 1)

    def _with_headings(self, index: int) -> int:
        """Return the index of the first of the headings directly above a row that fit, or else the row's own index."""
        first = index
        while first and index - first + 1 < self.page and self._keys[first - 1] in self._fixed:
            first -= 1
        return first

    def apply_size(self, update: Callable[[], bool]) -> bool:
        """Keep the cursor in view when the list shrinks."""
        cursor, top = self._cursor, self.scroll_offset.y
        was_seen = cursor is not None and top <= cursor < top + self._last_page
        changed = super().apply_size(update)
        self._last_page = self.page
        if was_seen and changed:
            self.call_next(self._bring_into_view)
        return changed

    def _redraw(self, *indexes: int | None) -> None:
        for index in indexes:
            if index is not None:
                self.refresh_line(index + self._names)

    def _announce(self, *, is_moved: bool = True) -> None:
        if self.cursor is not None:
            self.post_message(self.RowHighlighted(self, self.cursor, is_moved=is_moved))
