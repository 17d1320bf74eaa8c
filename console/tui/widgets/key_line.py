"""`KeyLine`: the last line of every screen, with the keys available there.

If there is too little room, the least important are dropped; `? help  : commands` stays, except while both keys are
letters for a line. Unavailable actions are dimmed; help gives the reason.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from console.tui.actions import Action
from console.tui.keymap import KeyMap, find_action
from console.tui.render import lines
from console.tui.symbols import SYMBOLS, muted

Reason = Callable[[Action], str]
"""Function that returns why an action is not available now; empty if it is."""


class KeyLine(Widget):
    """A horizontal rule and one line of keys."""

    DEFAULT_CSS = """
    KeyLine { height: 2; dock: bottom; }
    """

    @dataclass
    class ActionClicked(Message):
        """An action's entry was clicked."""

        action: Action

    def __init__(self) -> None:
        super().__init__()
        self._actions: Sequence[Action] = ()
        self._keys = KeyMap()
        self._words: Mapping[str, str] = {}
        self._is_typing = False
        self._first: Collection[str] = ()
        self._why_not: Reason = lambda action: ""
        self._drawn: list[tuple[Action, Content]] = []

    def tell(
        self,
        actions: Sequence[Action],
        keys: KeyMap,
        words: Mapping[str, str],
        why_not: Reason,
        *,
        is_typing: bool = False,
        first: Collection[str] = (),
    ) -> None:
        """Update the contents.

        Args:
            actions: candidates, in any order.
            keys: the keys in use.
            words: words that replace those of the action table, by action id; an empty word hides the action.
            why_not: returns why an action is not available.
            is_typing: True if letters go into a line.
            first: ids of the actions that come before all others.
        """
        self._first = first
        self._is_typing = is_typing
        self._actions, self._keys, self._words, self._why_not = actions, keys, words, why_not
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        short = self.size.height < 2
        tail = Content.empty() if self._is_typing else Content.assemble(("?", "bold $focus"), " help ")
        if tail and not short:
            tail = tail.append(Content.assemble(" ", (":", "bold $focus"), " commands "))
        room = width - tail.cell_length - 3
        self._drawn = fitting(self._items(), room)
        left = Content(" ").append(Content("  ").join([item for _, item in self._drawn]))
        line = lines.spread(left, tail, width)
        return line if short else Content("\n").join([Content.styled(SYMBOLS.rule * width, "$line"), line])

    def on_click(self, event: events.Click) -> None:
        if event.y != self.size.height - 1:
            return
        if not self._is_typing and event.x >= self.size.width - (7 if self.size.height < 2 else 20):
            is_help = self.size.height < 2 or event.x < self.size.width - 12
            action = find_action("help" if is_help else "palette", "all")
            if action is not None:
                self.post_message(self.ActionClicked(action))
            return
        start = 1
        for action, item in self._drawn:
            if start <= event.x < start + item.cell_length:
                self.post_message(self.ActionClicked(action))
            start += item.cell_length + 2

    def _items(self) -> list[tuple[Action, Content]]:
        items: list[tuple[Action, Content]] = []
        seen: set[str] = set()
        for action in self._actions:
            word = self._words.get(action.id, action.footer)
            keys = self._keys.shown(action)
            if not word or not keys or keys in seen:
                continue
            seen.add(keys)
            items.append((action, self._item(action, keys, word)))
        return sorted(items, key=lambda item: (item[0].id not in self._first, -item[0].priority))

    def _item(self, action: Action, keys: str, word: str) -> Content:
        if self._why_not(action):
            return muted(f"{keys} {word}")
        return Content.assemble((keys, "bold $focus"), f" {word}")


def fitting(items: Sequence[tuple[Action, Content]], room: int) -> list[tuple[Action, Content]]:
    """Return the items that fit into `room` cells, the first ones preferred."""
    shown: list[tuple[Action, Content]] = []
    used = -2
    for action, item in items:
        if used + 2 + item.cell_length <= room:
            used += 2 + item.cell_length
            shown.append((action, item))
    return shown
