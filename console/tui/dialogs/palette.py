"""`Palette`: every action of a screen by name, filtered by typing."""

from textual.content import Content
from textual.fuzzy import Matcher
from textual.style import Style

from console.tui.actions import Action, ActionSource
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.keymap import KeyMap
from console.tui.render.columns import Column
from console.tui.symbols import muted

_MATCH = Style(bold=True, underline=True)


_COLUMNS = (Column("command", 34, 1), Column("key", 10, right=True))


class Palette(FilterDialog[Action]):
    """Returns the chosen action, or None."""

    def __init__(self, source: ActionSource, key_map: KeyMap) -> None:
        hint, nothing = "type the name of a command", "No matching command."
        super().__init__(CommandRows(source, key_map), _COLUMNS, hint=hint, nothing=nothing, grows=True)


class CommandRows:
    """The actions of a screen."""

    def __init__(self, source: ActionSource, key_map: KeyMap) -> None:
        self._source = source
        self._key_map = key_map
        self._actions = {str(number): action for number, action in enumerate(_offered(source))}
        self._shown: dict[str, Content] = {}

    def narrowed(self, text: str) -> list[str]:
        """Return the keys of the actions that match, best match first."""
        self._shown = {}
        if not text:
            self._shown = {key: Content(action.title) for key, action in self._actions.items()}
        else:
            matcher = Matcher(text, match_style=_MATCH)
            scores = {key: matcher.match(action.title) for key, action in self._actions.items()}
            for key in sorted((key for key in scores if scores[key]), key=lambda key: -scores[key]):
                self._shown[key] = matcher.highlight(self._actions[key].title)
        return list(self._shown)

    def answer(self, key: str) -> Action | None:
        """Return the action, or None if it is unavailable."""
        return None if self._source.why_not(self._actions[key]) else self._actions[key]

    def draw_row(self, key: str) -> tuple[Content, ...]:
        """Return the cells of an action: its name, why it is unavailable, its key."""
        action = self._actions[key]
        why = self._source.why_not(action)
        title = muted(f"{action.title}   {why}") if why else self._shown[key]
        return title, muted(self._key_map.path(action))


def _offered(source: ActionSource) -> list[Action]:
    """Return the actions that the palette lists, one per title."""
    by_title: dict[str, Action] = {}
    for action in source.actions_here():
        if action.palette and not action.opens_menu:
            by_title.setdefault(action.title, action)
    return sorted(by_title.values(), key=lambda action: action.title)
