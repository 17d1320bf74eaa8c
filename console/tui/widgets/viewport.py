"""`Viewport`: a window over lines that are drawn only while they are visible. Lists and texts are made of it.

It knows how long its content is, how far the reader is in it, and which of its lines are drawn already; its scroll bar
always tells the same. Moving is done by one set of actions; what a step means (a row, a line) its subclasses say.
"""

from collections.abc import Callable

from textual.cache import LRUCache
from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.tui.textual_patches import refresh_scrollbars, sized_by_apply_size

LEAST_WIDTH = 8
"""Columns that lines are made for even where there are fewer."""


@sized_by_apply_size
class Viewport(ScrollView, can_focus=True):
    """A scrolling window over lines that are drawn only while they are visible."""

    DEFAULT_CSS = """
    Viewport { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    virtual_size = Reactive(Size(0, 0), repaint=False)
    """As in `Widget`, but a new size lays nothing out and draws nothing: no other widget depends on it."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(512)

    # Length and place ------------------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Columns that a line has."""
        return max(self.scrollable_content_region.width, LEAST_WIDTH)

    @property
    def page(self) -> int:
        """Lines that are visible at once."""
        return max(self.scrollable_content_region.height, 1)

    def set_length(self, length: int) -> None:
        """Say how many lines there are.

        Only a widget that is as high as its content makes the screen be laid out again, and one whose scroll bar comes
        or goes. Textual would do so for every line that a stream adds, which costs more than the line itself.
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
        """Put line `y` at the top, or as near to it as the content allows."""
        self.scroll_to(y=max(y, 0), animate=False, immediate=True, force=True)
        self._tell_bar()

    def _tell_bar(self) -> None:
        """Bring the scroll bar up to date.

        Textual passes the place on only while the bar is shown and the length only with a layout, so that a bar that
        appears after the first scrolling would stand at the top, or at a place of an earlier length.
        """
        if self.show_vertical_scrollbar and self.styles.scrollbar_size_vertical:
            bar = self.vertical_scrollbar
            bar.window_virtual_size, bar.window_size = self.virtual_size.height, self.container_size.height
            bar.position = self.scroll_y

    def watch_show_vertical_scrollbar(self) -> None:
        """Tell a bar that has just appeared where the reader is."""
        self._tell_bar()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the bar in step with whatever scrolls."""
        super().watch_scroll_y(old_value, new_value)
        self._tell_bar()

    def apply_size(self, update: Callable[[], bool]) -> bool:
        """Apply a new size by Textual's own `update`, and bring the scroll bar up to date before anything is drawn."""
        changed = update()
        self._tell_bar()
        return changed

    # Moving ----------------------------------------------------------------------------------------------------------

    def move_by(self, step: int) -> None:
        """Move so many lines, down when positive."""
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
        """Draw every visible line anew."""
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget drawn lines when the theme or the focus style changes."""
        super().notify_style_update()
        self._strips.clear()
