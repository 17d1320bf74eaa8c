"""The first line of every place: where one is, what it shows, and whether a run is live."""

from textual import events
from textual.content import Content
from textual.widget import Widget

from console.tui.render import lines
from console.tui.render.symbols import SYMBOLS

PLACES = (
    ("1", "Home", "home"),
    ("2", "Live", "live"),
    ("3", "Review", "review"),
    ("4", "Compare", "compare"),
    ("5", "Library", "library"),
)
"""Key, name and id of the places, in order."""
_WIDE = 120
_TITLE_ROOM = 15
"""Cells that what the place shows must have beside the places; with fewer, the places make room for it."""


class TopLine(Widget):
    """Two lines: places and status, then a rule (narrow) or nothing (wide)."""

    DEFAULT_CSS = """
    TopLine { height: 2; dock: top; }
    """

    def __init__(self, place: str, heading: str) -> None:
        """Name the place (an id of PLACES, or one of a screen without a number) and what it is called."""
        super().__init__()
        self.place = place
        self.heading = heading
        self._title = Content.empty()
        self._status = Content.empty()
        self._badge = Content.empty()
        self._has_places = True

    def tell(
        self, *, title: Content | None = None, status: Content | None = None, badge: Content | None = None
    ) -> None:
        """Change what is shown beside the places; None leaves a part as it is.

        Args:
            title: what the place shows, such as the run; takes the places' room when the line is narrow.
            status: figures at the right end.
            badge: the live-run badge, from the app.
        """
        self._title = self._title if title is None else title
        self._status = self._status if status is None else status
        self._badge = self._badge if badge is None else badge
        self.refresh()

    def render(self) -> Content:
        """Draw both lines."""
        width = self.size.width
        if self.size.height < 2:
            return self._short(width)
        parts = [part for part in (self._status, self._badge) if part]
        right = Content("   ").join([*parts, Content.empty()]) if parts else Content.empty()
        left = self._places()
        room = width - right.cell_length
        self._has_places = not self._title or (width >= _WIDE and left.cell_length + _TITLE_ROOM <= room)
        if not self._has_places:
            left = Content.assemble(" ", ("console", "bold $focus"), "   ", (self.heading, "bold"), "   ", self._title)
        elif self._title:
            left = left.append("   ").append(self._title)
        first = lines.spread(left, right, width)
        second = Content.styled(SYMBOLS.rule * width, "$line") if width < _WIDE else Content(" " * width)
        return Content("\n").join([first, second])

    def _short(self, width: int) -> Content:
        """Draw all that fits on one line of little room."""
        left = Content.assemble(" ", (self.heading, "bold $focus"), "  ", self._title)
        if not self._title:
            left = left.append("  ".join(key for key, _, place in PLACES if place != self.place))
        return lines.spread(left.append(" "), self._status or self._badge, width)

    def on_click(self, event: events.Click) -> None:
        """Go to the place that was clicked."""
        if event.y == 0 and self._has_places and self.size.height > 1:
            start = len(" console ")
            for key, name, place in PLACES:
                start, begin = start + len(f"[{key} {name}]"), start
                if begin <= event.x < start and place != self.place:
                    self.run_worker(self.screen.run_action(f"app.perform('go_{place}')"))

    def _places(self) -> Content:
        parts: list[Content] = [Content.assemble(" ", ("console", "bold $focus"), " ")]
        for key, name, place in PLACES:
            if place == self.place:
                parts.append(Content.styled(f"[{key} {name}]", "bold"))
            else:
                parts.append(Content.assemble(" ", (key, "$muted"), (f" {name} ", "$muted")))
        if self.place not in {place for _, _, place in PLACES}:
            parts.append(Content.styled(f"[{self.heading}]", "bold"))
        return Content("").join(parts)
