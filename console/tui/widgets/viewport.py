"""`Viewport`: a scrolling window that draws only visible lines, the base of lists and transcripts.

It manages content length, scroll position, scroll bar and a cache of drawn lines. Movement is a common set of actions;
subclasses define the unit of a step (a row, a line).
"""

from collections.abc import Callable

from textual.cache import LRUCache
from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.tui.textual_patches import refresh_scrollbars, sized_by_apply_size

LEAST_WIDTH = 8
"""Minimum width for drawing lines."""


@sized_by_apply_size
class Viewport(ScrollView, can_focus=True):
    """A scrolling window that draws only visible lines."""

    DEFAULT_CSS = """
    Viewport { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    virtual_size = Reactive(Size(0, 0), repaint=False)
    """Same as in `Widget`, but a change causes neither layout nor repaint, since no other widget depends on it."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(512)

    # Length and place ------------------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Width of a line in cells: the last one stays blank, so that text never touches the scroll bar or border."""
        return max(self.scrollable_content_region.width - 1, LEAST_WIDTH)

    @property
    def page(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def set_length(self, length: int) -> None:
        """Set the number of lines.

        The screen is laid out again only for a widget of automatic height, or if the scroll bar appears or disappears.
        Textual would do so for every streamed line, which costs more than the line itself.
        """
        if length == self.virtual_size.height:
            return
        self.virtual_size = Size(0, length)
        if self.styles.is_auto_height:
            self.refresh(layout=True)
        refresh_scrollbars(self)
        self.scroll_y = self.validate_scroll_y(self.scroll_y)
        self._tell_bar()

    def go_to(self, y: int) -> None:
        """Scroll line `y` to the top, if the content is long enough."""
        self.scroll_to(y=max(y, 0), animate=False, immediate=True, force=True)
        self._tell_bar()

    def _tell_bar(self) -> None:
        """Update the scroll bar.

        Textual updates its position only while it is visible, and its length only on layout, so a bar that appears
        after scrolling would show an outdated position.
        """
        if self.show_vertical_scrollbar and self.styles.scrollbar_size_vertical:
            bar = self.vertical_scrollbar
            bar.window_virtual_size, bar.window_size = self.virtual_size.height, self.container_size.height
            bar.position = self.scroll_y

    def watch_show_vertical_scrollbar(self) -> None:
        self._tell_bar()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._tell_bar()

    def apply_size(self, update: Callable[[], bool]) -> bool:
        """Apply a new size by Textual's `update`, and update the scroll bar before drawing."""
        changed = update()
        self._tell_bar()
        return changed

    # Moving ----------------------------------------------------------------------------------------------------------

    def move_by(self, step: int) -> None:
        """Scroll by a number of lines, down if positive."""
        self.go_to(self.scroll_offset.y + step)

    def move_to_first(self) -> None:
        self.go_to(0)

    def move_to_last(self) -> None:
        self.go_to(self.virtual_size.height)

    def action_cursor_down(self) -> None:
        self.move_by(1)

    def action_cursor_up(self) -> None:
        self.move_by(-1)

    def action_cursor_first(self) -> None:
        self.move_to_first()

    def action_cursor_last(self) -> None:
        self.move_to_last()

    def action_half_down(self) -> None:
        self.move_by(max(self.page // 2, 1))

    def action_half_up(self) -> None:
        self.move_by(-max(self.page // 2, 1))

    def action_page_down(self) -> None:
        """Move a page down, keeping one line in view."""
        self.move_by(max(self.page - 1, 1))

    def action_page_up(self) -> None:
        """Move a page up, keeping one line in view."""
        self.move_by(-max(self.page - 1, 1))

    # Drawing ---------------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        """Clear the cache of drawn lines when the theme or the focus style changes."""
        super().notify_style_update()
        self._strips.clear()
