"""`TopLine`: the first line of every screen, with its name, its subject, and an indicator of live runs."""

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from console.tui.render import lines
from console.tui.symbols import MUTED, SYMBOLS

NUMBERED = (
    ("1", "Home", "home"),
    ("2", "Live", "live"),
    ("3", "Review", "review"),
    ("4", "Compare", "compare"),
    ("5", "Library", "library"),
)
"""Key, name and id of the screens with a number, in order."""
_WIDE = 120
_SUITE_GAP = " · "
_LEAST_NAME, _LEAST_SUITE = 12, 6
"""Minimum room in a title for the name of a run, and for that of its suite."""
_MOST_NAMES = 46
"""Maximum room for the names at the left end, as long as there is any at the right end."""


class TopLine(Widget):
    """Two lines: screens and status, then a rule (narrow) or a blank (wide); posts clicks on screens."""

    DEFAULT_CSS = """
    TopLine { height: 2; dock: top; }
    """

    @dataclass
    class ScreenClicked(Message):
        """Another screen's name was clicked."""

        name: str
        """The screen's name in the action table."""

    def __init__(self, where: str, heading: str) -> None:
        """Store the screen's name in the action table and its display name."""
        super().__init__()
        self.where = where
        self.heading = heading
        self._title = Content.empty()
        self._status = Content.empty()
        self._badge = Content.empty()
        self._tabs: list[tuple[str, str]] = []
        """Text of the tabs as drawn, and their screens' names in the action table."""

    def tell(
        self, *, title: Content | None = None, status: Content | None = None, badge: Content | None = None
    ) -> None:
        """Update parts of the line; None keeps a part unchanged.

        Args:
            title: the screen's subject, such as the run; replaces the tabs if the line is narrow.
            status: text at the right end.
            badge: the app's indicator of live runs.
        """
        self._title = self._title if title is None else title
        self._status = self._status if status is None else status
        self._badge = self._badge if badge is None else badge
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        if self.size.height < 2:
            return self._short(width)
        parts = [part for part in (self._status, self._badge) if part]
        right = Content("   ").join([*parts, Content.empty()]) if parts else Content.empty()
        room = lines.room_beside(right, width)
        left = self._draw_tabs(are_named=True)
        if self._title:
            subject = 3 + subject_of(self._title).cell_length
            if left.cell_length + subject > room:
                left = self._draw_tabs(are_named=False)
            if width < _WIDE or left.cell_length + subject > room:
                self._tabs = []
        if not self._tabs:
            left = Content.assemble(" ", ("console", "bold $focus"), "   ", (self.heading, "bold"))
            if left.cell_length + 3 + self._title.cell_length > room:  # drop the name of the program first
                left = Content.assemble(" ", (self.heading, "bold $focus"))
        if self._title:
            left = left.append("   ").append(_fit_title(self._title, room - left.cell_length - 3))
        first = lines.spread(left, right, width)
        second = Content.styled(SYMBOLS.rule * width, "$line") if width < _WIDE else Content(" " * width)
        return Content("\n").join([first, second])

    def _short(self, width: int) -> Content:
        """Draw the only line of a small terminal."""
        left = Content.assemble(" ", (self.heading, "bold $focus"), "  ", self._title)
        if not self._title:
            left = left.append("  ".join(key for key, _, where in NUMBERED if where != self.where))
        return lines.spread(left.append(" "), self._status or self._badge, width)

    def on_click(self, event: events.Click) -> None:
        if event.y == 0 and self.size.height > 1:
            start = len(" console ")
            for tab, where in self._tabs:
                start, begin = start + len(tab), start
                if begin <= event.x < start and where != self.where:
                    self.post_message(self.ScreenClicked(where))

    def _draw_tabs(self, *, are_named: bool) -> Content:
        """Return the program's name and a tab for each screen with a number; only the current one is always named."""
        self._tabs = [
            (f"[{key} {name}]" if where == self.where else f" {key} {name} " if are_named else f" {key} ", where)
            for key, name, where in NUMBERED
        ]
        if self.where not in {where for _, _, where in NUMBERED}:
            self._tabs.append((f"[{self.heading}]", self.where))
        tabs = [Content.styled(tab, "bold" if where == self.where else MUTED) for tab, where in self._tabs]
        return Content("").join([Content.assemble(" ", ("console", "bold $focus"), " "), *tabs])


def subject_of(title: Content) -> Content:
    """Return a title with its first number, without further ones and the name of the run at its end."""
    return title[: len(", ".join(title.plain.partition("   ")[0].split(", ")[:2]))]


@dataclass(frozen=True, slots=True)
class SubjectWidths:
    """Cells that a screen's name and a title's subject take."""

    whole: int
    cut: int
    """With the suite cut in its middle."""
    least: int
    """Without the suite."""


def subject_widths(title: Content, *, beside: int) -> SubjectWidths:
    """Return the widths of a title's subject with `beside` cells of other text."""
    subject = subject_of(title)
    model = subject[: len(subject.plain.rpartition(_SUITE_GAP)[0])].cell_length
    whole = min(beside + subject.cell_length, _MOST_NAMES)
    return SubjectWidths(
        whole, min(whole, beside + model + len(_SUITE_GAP) + _LEAST_SUITE), min(whole, beside + (model or whole))
    )


def _fit_title(title: Content, room: int) -> Content:
    """Return a title without the trailing parts that do not fit; the last name is cut in the middle."""
    for gap, least in (("   ", _LEAST_NAME), (_SUITE_GAP, _LEAST_SUITE)):
        before, _, name = title.plain.rpartition(gap)
        spare = room - title[: len(before)].cell_length - len(gap)
        if not before or title.cell_length <= room:
            continue
        if spare >= least:
            return title[: -len(name)].append(lines.fit_name(title[-len(name) :], spare))
        title = title[: len(before)]
    if title.cell_length <= room:
        return title
    first = subject_of(title)
    if first.cell_length <= room:
        return title[: title.plain.rfind(", ", 0, room + len(", "))]
    name, comma, number = first.plain.partition(", ")
    spare = room - len(comma + number)
    if not comma or spare < _LEAST_SUITE:
        return lines.fit_name(title[: len(name)], room)
    return lines.fit_name(title[: len(name)], spare).append(first[len(name) :])
