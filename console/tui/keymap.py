"""Key bindings: the defaults from the action table and the user's own from `keys.toml`.

`keys.toml` is in the config folder and maps action ids to keys: `"run.new" = "N"` or a list of keys. Errors in it are
reported and never stop the app.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec
from textual.binding import Binding, BindingType

from console.core.fault import reason_of
from console.core.suggestion import nearest
from console.tui.actions import ACTIONS, Action

_NAMES = {
    "backspace": "⌫",
    "escape": "esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "plus": "+",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "home": "Home",
    "end": "End",
    "space": "space",
    "tab": "tab",
    "shift+tab": "shift+tab",
}


OWN_KEYS = ("rows", "text", "line")
"""Kinds of widgets that handle their keys themselves; all other keys go to `ConsoleApp.action_perform`."""


def bindings_for(where: str) -> list[BindingType]:
    """Return the default bindings of a screen, a kind of widget, or (for `all`) the app."""
    return [_binding(action) for action in ACTIONS if action.where == where and action.keys and not action.menu]


def _binding(action: Action) -> Binding:
    if action.opens_menu:
        method = f"app.menu('{action.id}')"
    elif action.where in OWN_KEYS:
        method = action.method
    else:
        method = f"app.perform('{action.method}')"
    always = action.id == "quit"
    return Binding(",".join(action.keys), method, action.meaning, show=False, id=action.id, priority=always)


@cache
def actions_at(*wheres: str) -> tuple[Action, ...]:
    """Return all actions of these screens and kinds of widgets, including menu entries, in table order."""
    return tuple(action for action in ACTIONS if action.where in wheres)


def find_action(id: str, *wheres: str) -> Action | None:
    """Return the action with an id from the first of these screens and kinds of widgets that has it."""
    for where in wheres:
        for action in ACTIONS:
            if action.id == id and action.where == where:
                return action
    return None


class KeyMap(msgspec.Struct):
    """The keys in use: the defaults overridden by the user's own."""

    own: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    mistakes: list[str] = msgspec.field(default_factory=list[str])

    def keys_of(self, action: Action) -> tuple[str, ...]:
        """Return an action's keys, by Textual's names."""
        return self.own.get(action.id, action.keys)

    def shown(self, action: Action, *, all_keys: bool = False) -> str:
        """Return an action's keys for display, `n/N` for a pair."""
        names = [name_of_key(key) for key in self.keys_of(action)]
        text = " ".join(names) if all_keys else "".join(names[:1])
        if action.pair and (other := find_action(action.pair, action.where)) is not None and not all_keys:
            text += "/" + name_of_key(self.keys_of(other)[0])
        return text

    def path(self, action: Action) -> str:
        """Return all keys of an action, preceded by its menu's key; empty if there is no key."""
        text = self.shown(action, all_keys=True)
        opener = find_action(action.menu, action.where) if action.menu else None
        return f"{self.shown(opener)} {text}" if opener else text

    def for_textual(self) -> dict[str, str]:
        """Return the user's keys for `App.set_keymap`."""
        return {id: ",".join(keys) for id, keys in self.own.items()}


def name_of_key(key: str) -> str:
    """Return the display name of a key."""
    return _NAMES.get(key, key)


def load_key_map(path: Path) -> KeyMap:
    """Read the user's keys; a missing file means the defaults."""
    key_map = KeyMap()
    if not path.exists():
        return key_map
    import tomli  # imported late: most users have no keys.toml

    try:
        table = tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        key_map.mistakes.append(f"{path.name} cannot be read: {reason_of(error)}")
        return key_map
    for id, value in _flat(table):
        _set_keys(key_map, id, value)
    key_map.mistakes += _conflicts(key_map)
    return key_map


def _conflicts(key_map: KeyMap) -> list[str]:
    """Return an error for each key assigned to an action while another action in the same place has it."""
    conflicts: list[str] = []
    for action in (remapped for remapped in ACTIONS if remapped.id in key_map.own):
        for other in ACTIONS:
            shared = set(key_map.own[action.id]) & set(key_map.keys_of(other))
            if other.id == action.id or other.menu != action.menu or not shared or not _meet(action, other):
                continue
            key = name_of_key(sorted(shared)[0])
            text = f"keys.toml: {key} is both {action.id} and {other.id}; give one of them another key"
            if text not in conflicts and f"{key} is both {other.id} and {action.id}" not in " ".join(conflicts):
                conflicts.append(text)
    return conflicts


def _meet(action: Action, other: Action) -> bool:
    """Return whether two actions can be available at the same time."""
    return action.where == other.where or "all" in (action.where, other.where)


def _set_keys(key_map: KeyMap, id: str, value: Any) -> None:
    ids = {action.id for action in ACTIONS}
    if id not in ids:
        close = nearest(id, sorted(ids))
        hint = f"; did you mean {close}?" if close else ""
        key_map.mistakes.append(f"keys.toml: no action is called {id!r}{hint}")
        return
    keys = [value] if isinstance(value, str) else cast("list[Any]", value) if isinstance(value, list) else []
    if not keys or not all(isinstance(key, str) and key for key in keys):
        key_map.mistakes.append(f"keys.toml: {id} needs a key or a list of keys")
        return
    key_map.own[id] = tuple(keys)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Yield dotted ids with their values; unquoted, `run.new = "N"` is a nested table in TOML."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
