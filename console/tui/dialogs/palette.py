"""`Palette`: everything that can be done or opened, found by any common word for it.

Before anything is typed it lists the actions of the screen, the last chosen ones first. Typing also finds the actions
of other screens, and models, suites, runs and themes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from textual.content import Content
from textual.fuzzy import Matcher
from textual.style import Style

from console.tui.actions import ALIASES, Action
from console.tui.data.filter_in_force import match_rank
from console.tui.data.ui_state import UiState
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.symbols import muted

_MATCH = Style(bold=True, underline=True)
_COLUMNS = (Column("command", 34, 1, is_name=True), Column("key", 12, right=True))
_RECENT = "palette.recent"
"""Key of the last chosen commands in the UI state."""
_MOST_RECENT = 8
_ELSEWHERE = 2
"""Ranks by which an action of another screen comes later: its very name ranks like any word of one of this screen."""
_FUZZY = 6
"""Rank of a title that contains the typed letters only scattered, though in order; after all ranks of `match_rank`."""


@dataclass(frozen=True, slots=True)
class Command:
    """An entry of the palette."""

    title: str
    """Shown and matched against typed words; parts after the first colon may be untrusted."""
    run: Callable[[], object]
    words: str = ""
    """Text other than its title by which it is found."""
    aside: str = ""
    """Key of the command, or the place to which it leads."""
    is_elsewhere: bool = False
    """True for an action of another screen, which ranks below those of this one."""
    why_not: str = ""
    """Reason why it is unavailable; empty if it is not."""


def action_command(
    action: Action, run: Callable[[], object], *, aside: str, is_elsewhere: bool = False, why_not: str = ""
) -> Command:
    """Return the entry of an action."""
    aliases = (ALIASES.get(id, "") for id in dict.fromkeys((action.id, action.id.partition(".")[0])))
    words = " ".join((action.meaning, action.footer, *aliases))
    return Command(action.title, run, words, aside, is_elsewhere, why_not)


class Palette(FilterDialog[Command]):
    """Returns the chosen command, or None."""

    def __init__(self, here: Sequence[Command], elsewhere: Callable[[], Sequence[Command]], ui_state: UiState) -> None:
        """Offer commands of the screen and, once something is typed, those that `elsewhere` returns."""
        rows = CommandRows(here, elsewhere, ui_state)
        hint = "a command, model, suite, run or theme"
        super().__init__(rows, _COLUMNS, hint=hint, nothing="Nothing matches.", grows=True)


class CommandRows:
    """Commands in the order of their match."""

    def __init__(self, here: Sequence[Command], elsewhere: Callable[[], Sequence[Command]], ui_state: UiState) -> None:
        self._ui_state = ui_state
        recent = ui_state.text(_RECENT).split("\n")
        self._recency = {title: place for place, title in enumerate(recent)}
        self._here = list(_unique(here))
        self._elsewhere = elsewhere
        self._all: dict[str, Command] | None = None
        self._shown: dict[str, tuple[Command, Content]] = {}

    def _place(self, command: Command) -> int:
        return self._recency.get(command.title, len(self._recency))

    def narrowed(self, text: str) -> list[str]:
        """Return the keys of the matching commands, best match first."""
        if not text.strip():
            listed = sorted(self._here, key=lambda command: (self._place(command), bool(command.why_not)))
            self._shown = {command.title: (command, one_line(command.title, 100)) for command in listed}
            return list(self._shown)
        if self._all is None:
            self._all = {command.title: command for command in _unique(chain(self._here, self._elsewhere()))}
        matcher = Matcher(text, match_style=_MATCH)
        ranked: list[tuple[int, int, int, Command]] = []
        for number, command in enumerate(self._all.values()):
            rank = _rank(text, command, matcher)
            if rank is not None:
                ranked.append((rank, self._place(command), number, command))
        ranked.sort(key=lambda row: (bool(row[3].why_not), *row[:3]))
        if any(rank < _FUZZY for rank, *_ in ranked):
            ranked = [row for row in ranked if row[0] < _FUZZY]
        self._shown = {
            command.title: (command, matcher.highlight(one_line(command.title, 100).plain)) for *_, command in ranked
        }
        return list(self._shown)

    def answer(self, key: str) -> Command | None:
        """Return the command and remember it, or None if it is unavailable."""
        command, _ = self._shown[key]
        if command.why_not:
            return None
        recent = [command.title, *(title for title in self._recency if title and title != command.title)]
        self._ui_state.keep(_RECENT, "\n".join(recent[:_MOST_RECENT])[:_LONGEST])
        return command

    def draw_row(self, key: str) -> tuple[Content, ...]:
        """Return the cells of a command: its name, why it is unavailable, and its key."""
        command, title = self._shown[key]
        if command.why_not:
            title = muted(f"{title.plain}   {command.why_not}")
        return title, muted(command.aside)


_LONGEST = 480
"""Maximum number of characters remembered."""


def _rank(text: str, command: Command, matcher: Matcher) -> int | None:
    name = command.title.partition(": ")[2]
    ranks = [match_rank(text, title, command.title, command.words) for title in (command.title, name)]
    matching = [rank for rank in ranks if rank is not None]
    if matching:
        return min(matching) + _ELSEWHERE * command.is_elsewhere
    return _FUZZY if matcher.match(command.title) else None


def _unique(commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands without repeated titles; an earlier one wins."""
    seen: set[str] = set()
    for command in commands:
        if command.title not in seen:
            seen.add(command.title)
            yield command
