"""`KeyMenu`: lists the second keys of a key such as `y` or `f`, so that nothing must be remembered."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.tui.actions import Action
from console.tui.keymap import KeyMap, name_of_key
from console.tui.render import lines


class KeyMenu(ModalScreen[Action | None]):
    """Waits for one key; answers with the chosen action or None."""

    DEFAULT_CSS = """
    KeyMenu { align: left bottom; background: transparent; }
    KeyMenu > Static { height: auto; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, opener: Action, actions: list[Action], key_map: KeyMap) -> None:
        """List the actions of one menu."""
        super().__init__()
        self._opener = opener
        self._actions = {key: action for action in actions for key in key_map.keys_of(action)}

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        yield Static()

    def on_mount(self) -> None:
        """Draw it once the width is known."""
        self.query_one(Static).update(self._list(self.size.width - 2))

    def _list(self, width: int) -> Content:
        column = 26
        across = max(width // column, 1)
        cells = [
            lines.fit(Content.assemble((name_of_key(key), "bold $focus"), f"  {action.meaning}"), column)
            for key, action in self._actions.items()
        ]
        rows = [Content("").join(cells[start : start + across]) for start in range(0, len(cells), across)]
        title = Content.assemble((self._opener.title.removesuffix(": menu"), "bold"), ("   esc closes", "$muted"))
        return Content("\n").join([title, *rows])

    def on_key(self, event: events.Key) -> None:
        """Answer with the action of the key; any other key closes the menu."""
        event.stop()
        event.prevent_default()
        self.dismiss(self._actions.get(event.character or "") or self._actions.get(event.key))
