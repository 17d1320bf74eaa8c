"""The command palette: every action of this place by name, narrowed by typing, chosen with enter."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Input

from console.tui.actions import Action
from console.tui.keys import KeyMap
from console.tui.screens.place import Place
from console.tui.widgets.rows import Column, Rows

_MATCH = Style(bold=True, underline=True)


class Palette(ModalScreen[Action | None]):
    """Answers with the chosen action or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    Palette { align: center top; background: $background 40%; }
    Palette > Vertical { width: 76; max-width: 95%; height: auto; max-height: 80%; margin-top: 2; background: $panel;
                         border: round $focus; }
    Palette Input { border: none; height: 1; background: $panel; padding: 0 1; margin-bottom: 1; }
    Palette Rows { height: auto; max-height: 20; background: $panel; }
    Palette Rows > .rows--cursor-away { background: $cursor; color: $cursor-text; text-style: bold; }
    """

    def __init__(self, place: Place, key_map: KeyMap) -> None:
        """List what can be done at a place."""
        super().__init__()
        self._place = place
        self._key_map = key_map
        self._actions = {str(number): action for number, action in enumerate(_offered(place))}
        self._shown: dict[str, Content] = {}

    def compose(self) -> ComposeResult:
        """Lay out the input and the list."""
        with Vertical():
            yield Input(placeholder="type the name of a command", compact=True)
            columns = [Column("command", 34, 1), Column("key", 10, right=True)]
            yield Rows(columns, draw=self._draw, empty=Content("No command has these letters."))

    def on_mount(self) -> None:
        """Show everything at first."""
        self._narrow("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    def _entered(self) -> None:
        key = self.query_one(Rows).cursor
        self._choose(key)

    @on(Rows.RowChosen)
    def _clicked(self, event: Rows.RowChosen) -> None:
        self._choose(event.key)

    def action_step(self, step: int) -> None:
        """Move through the list while the input keeps the focus."""
        self.query_one(Rows).move_by(step)

    def _choose(self, key: str | None) -> None:
        if key is not None and not self._place.why_not(self._actions[key]):
            self.dismiss(self._actions[key])

    def _narrow(self, text: str) -> None:
        rows = self.query_one(Rows)
        self._shown = {}
        if not text:
            self._shown = {key: Content(action.title) for key, action in self._actions.items()}
        else:
            matcher = Matcher(text, match_style=_MATCH)
            scores = {key: matcher.match(action.title) for key, action in self._actions.items()}
            for key in sorted((key for key in scores if scores[key]), key=lambda key: -scores[key]):
                self._shown[key] = matcher.highlight(self._actions[key].title)
        rows.styles.height = max(min(len(self._shown), 20), 1)
        rows.show(list(self._shown))
        if self._shown:
            rows.move_to(next(iter(self._shown)))

    def _draw(self, key: str) -> tuple[Content, ...]:
        action = self._actions[key]
        why = self._place.why_not(action)
        title = Content.styled(f"{action.title}   {why}", "$muted") if why else self._shown[key]
        return title, Content.styled(self._key_map.path(action), "$muted")


def _offered(place: Place) -> list[Action]:
    """Return the actions of a place without those that make no sense by name, each title once."""
    by_title: dict[str, Action] = {}
    for action in place.actions_here():
        if action.palette and not action.opens_menu:
            by_title.setdefault(action.title, action)
    return sorted(by_title.values(), key=lambda action: action.title)
