"""Help for a screen, built from its actions, and a scrollable list of messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from console.insight.run_number import REROLLED, REROLLED_WORDS
from console.suites.leaderboard import INCOMPLETE_WORDS, STAR
from console.tui.actions import Action, ActionSource
from console.tui.dialogs.small_dialogs import Dialog
from console.tui.keymap import KeyMap, find_action, name_of_key
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS
from console.tui.widgets.transcript import Transcript

_KEYS_WIDTH = 13
_COLUMN = 36
_LAST = {"MOVE": 1, "EVERYWHERE": 2}
"""Sort order of the groups that are the same everywhere; a screen's own groups come first."""


class HelpScreen(Dialog[None]):
    """All keys of a screen and of its focused pane, by group; `/` searches them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "close", show=False),
        Binding("slash", "find", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 40%; }
    HelpScreen > Vertical { width: 78; max-width: 100%; height: 22; max-height: 100%; border: heavy $focus;
                            background: $panel; border-title-color: $focus; border-title-style: bold;
                            border-subtitle-color: $muted; }
    HelpScreen.-tall > Vertical { height: 38; }
    HelpScreen Input { border: none; height: 1; background: $panel; padding: 0 1; display: none; }
    HelpScreen Input.-open { display: block; }
    HelpScreen Transcript { height: 1fr; background: $panel; padding: 0 0 0 1; }
    """

    def __init__(self, source: ActionSource, key_map: KeyMap) -> None:
        super().__init__()
        self._source = source
        self._key_map = key_map

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content(f"Help: {self._source.heading}")
            box.border_subtitle = "j k scroll   / find a key   esc closes"
            yield Input(placeholder="a word, such as copy", compact=True)
            yield Transcript()

    def on_mount(self) -> None:
        self._narrow("")
        self.query_one(Transcript).focus()

    def action_close(self) -> None:
        line = self.query_one(Input)
        if line.has_class("-open"):
            line.remove_class("-open")
            line.value = ""
            self.query_one(Transcript).focus()
        else:
            self.dismiss(None)

    def action_find(self) -> None:
        self.query_one(Input).add_class("-open").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.query_one(Transcript).focus()

    def _narrow(self, word: str) -> None:
        columns = 2 if self.size.width >= 2 * _COLUMN + 4 else 1
        self.query_one(Transcript).show(key_blocks(self._source, self._key_map, word, columns=columns))


class HelpPane(Transcript, can_focus=False):
    """The key list docked next to a wide screen."""

    DEFAULT_CSS = """
    HelpPane { dock: right; width: 46; height: 1fr; padding: 0 0 0 1; border: round $focus;
               border-title-color: $focus; border-title-style: bold; border-subtitle-color: $muted; }
    """

    def __init__(self, source: ActionSource, key_map: KeyMap) -> None:
        super().__init__()
        self._source = source
        self._keys_in_use = key_map
        self.border_title = Content("Help")
        self.border_subtitle = Content(": finds a key   ? closes")

    def on_show(self, event: events.Show) -> None:
        """Draw the keys once the width is known."""
        self.call_after_refresh(self.refresh_keys)

    def refresh_keys(self) -> None:
        self.show(key_blocks(self._source, self._keys_in_use, "", columns=1), keep_place=True)


def key_blocks(source: ActionSource, key_map: KeyMap, word: str, *, columns: int) -> list[Block]:
    """Return the keys that match a word, by group, then reasons for unavailable actions, then the symbols."""
    groups = groups_of(source.actions_here(), word)
    blocks = [
        Block(name, Content.styled(name, "bold $focus"), body=_body(source, key_map, actions, columns))
        for name, actions in groups.items()
    ]
    if reasons := _unavailable(source, key_map, groups):
        blocks.append(Block("idle", Content.styled("UNAVAILABLE", "bold $focus"), body=reasons))
    if not word:
        blocks += [Block("marks", Content.styled("SYMBOLS", "bold $focus"), body=_marks())]
    return blocks or [Block("none", Content.assemble("No key matches “", one_line(word, 40), "”."))]


def _body(source: ActionSource, key_map: KeyMap, actions: Sequence[Action], columns: int) -> list[Content]:
    cells = [_cell(source, key_map, action) for action in actions]
    if columns == 1:
        return cells
    half = (len(cells) + 1) // 2
    left, right = cells[:half], [*cells[half:], Content.empty()]
    return [lines.fit(cell, _COLUMN).append(other) for cell, other in zip(left, right, strict=False)]


def _unavailable(source: ActionSource, key_map: KeyMap, groups: Mapping[str, Sequence[Action]]) -> list[Content]:
    """List each unavailable action with its reason."""
    reasons: list[Content] = []
    for action in (action for group in groups.values() for action in group):
        if why := source.why_not(action):
            words = f"{_words(source, action)}: {why}"
            reasons.append(Content.assemble((f"{_keys(key_map, action)}  ", "bold"), words))
    return reasons


def _cell(source: ActionSource, key_map: KeyMap, action: Action) -> Content:
    keys = lines.fit_text(_keys(key_map, action), _KEYS_WIDTH)
    style = MUTED if source.why_not(action) else ""
    return Content.assemble((keys, "bold"), " ", (_words(source, action), style))


def _words(source: ActionSource, action: Action) -> str:
    """Return the words of the key line if they depend on what is shown, else the meaning."""
    return source.key_words().get(action.id) or action.meaning


def _keys(key_map: KeyMap, action: Action) -> str:
    """Return the keys: for a pair those of both, in a menu after the menu's key, `:` for the palette."""
    if not action.pair or (other := find_action(action.pair, action.where)) is None:
        return key_map.path(action) or ":"
    both = zip(key_map.keys_of(action), key_map.keys_of(other), strict=False)
    names = [f"{name_of_key(key)} {name_of_key(other_key)}" for key, other_key in both]
    while len(names) > 1 and len("  ".join(names)) > _KEYS_WIDTH:
        names.pop()
    return "  ".join(names)


def groups_of(actions: Sequence[Action], word: str) -> dict[str, list[Action]]:
    """Return the actions whose title, meaning or keys contain the word, by group and without duplicates."""
    groups: dict[str, list[Action]] = {}
    seen: set[tuple[tuple[str, ...], str]] = set()
    second = {action.pair for action in actions if action.pair and _is_first(action, actions)}
    for action in actions:
        if action.id in second:
            continue
        words = f"{action.title} {action.meaning} {' '.join(action.keys)}".lower()
        if word.lower() not in words or (action.keys, action.meaning) in seen:
            continue
        seen.add((action.keys, action.meaning))
        groups.setdefault(action.group, []).append(action)
    return {name: groups[name] for name in sorted(groups, key=lambda name: _LAST.get(name, 0))}


def _is_first(action: Action, actions: Sequence[Action]) -> bool:
    """Return whether this action precedes its partner in the table, and so represents the pair."""
    return next(other for other in actions if other.id in (action.id, action.pair)).id == action.id


def _marks() -> list[Content]:
    signs = (
        (SYMBOLS.passed, "$pass", "passed"),
        (SYMBOLS.failed, "$fail", "failed: the model was wrong"),
        (SYMBOLS.broken, "$broken", "broken: network, provider, sandbox or our bug; never a score"),
        (SYMBOLS.undecided, "$undecided", "undecided: no grade could be determined"),
        (SYMBOLS.not_run, MUTED, "not run: given up before it was played"),
        (SYMBOLS.running, "$live", "running"),
        (SYMBOLS.stopped, MUTED, "stopped"),
        (SYMBOLS.not_ready, MUTED, "not ready"),
        (SYMBOLS.live, "$live", "a run is live, on every screen"),
        (STAR, "", INCOMPLETE_WORDS),
        (REROLLED, "", REROLLED_WORDS),
    )
    return [Content.assemble((f"{sign}  ", style), text) for sign, style, text in signs]


class TextScreen(Dialog[None]):
    """A scrollable list of texts, such as all messages since the app started."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]
    DEFAULT_CSS = """
    TextScreen { align: center middle; background: $background 40%; }
    TextScreen > Vertical { width: 78; max-width: 100%; height: 70%; border: heavy $focus; background: $panel;
                               border-title-color: $focus; border-title-style: bold; border-subtitle-color: $muted; }
    TextScreen Transcript { height: 1fr; background: $panel; padding: 0 0 0 1; }
    """

    def __init__(self, title: str, read: Callable[[], Sequence[Content]], empty: str) -> None:
        """Show texts, polled every second; `empty` is shown when there are none."""
        super().__init__()
        self._title, self._read, self._empty = title, read, empty
        self._texts: Sequence[Content] | None = None

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            box.border_subtitle = "j k scroll   esc closes"
            yield Transcript(empty=Content(self._empty))

    def on_show(self, event: events.Show) -> None:
        """Draw the texts once the width is known."""
        self._show()
        self.query_one(Transcript).focus()
        self.set_interval(1.0, self._show)

    def _show(self) -> None:
        texts = list(self._read())
        if texts != self._texts:
            self._texts = texts
            blocks = [Block(str(n), body=text.split("\n"), indent=0, gap=False) for n, text in enumerate(texts)]
            self.query_one(Transcript).show(blocks, keep_place=True)
