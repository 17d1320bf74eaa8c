"""`Dialog`, the base of all, and small ones: a question, a text field, the second key of a menu, waiting."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

import msgspec
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.core.fault import UsageError
from console.tui.actions import Action
from console.tui.keymap import KeyMap, name_of_key
from console.tui.render import lines
from console.tui.sanitize import marks_in, one_line
from console.tui.symbols import MUTED, SYMBOLS, muted
from console.tui.textual_patches import ignores_removed_widgets

ResultT = TypeVar("ResultT")


@ignores_removed_widgets
class Dialog(ModalScreen[ResultT]):
    """A modal screen that can be dismissed once.

    Textual pops whatever screen is on top, so a second key that reached a dismissed dialog would close the screen
    below.
    """

    def dismiss(self, result: ResultT | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Answer(msgspec.Struct, frozen=True):
    """A possible answer; `key` is also the result."""

    key: str
    words: str


class Question(Dialog[str]):
    """Returns the key of the answer, or an empty string on escape."""

    DEFAULT_CSS = """
    Question { align: center middle; background: $background 50%; }
    Question > Static { width: auto; max-width: 72; min-width: 40; height: auto; padding: 1 2; background: $panel;
                        border: round $focus; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, text: Content, answers: Sequence[Answer]) -> None:
        """Initialize the question; enter picks the first answer. Untrusted parts of `text` must be sanitized."""
        super().__init__()
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        rows = [
            Content.assemble(
                (f"{answer.key:>5}", "bold $focus"), "  ", answer.words, ("  enter", MUTED) if not place else ""
            )
            for place, answer in enumerate(self._answers)
        ]
        rows.append(Content.assemble(("  esc", "bold $focus"), "  cancel"))
        yield Static(Content("\n").join([self._text, Content.empty(), *rows]))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss("")
        elif event.key == "enter":
            self.dismiss(self._answers[0].key)
        elif (pressed := event.character or event.key) in {answer.key for answer in self._answers}:
            self.dismiss(pressed)


class Waiting(Dialog[ResultT | UsageError | None], Generic[ResultT]):
    """Calls a function in a thread and swallows all keys meanwhile, so that keys typed ahead reach no other screen.

    Returns its result or its `UsageError`; None on escape, after which the result is dropped.
    """

    DEFAULT_CSS = """
    Waiting { align: center middle; background: $background 50%; }
    Waiting > Static { width: auto; max-width: 72; height: auto; padding: 1 2; background: $panel;
                       border: round $focus; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, text: Content, work: Callable[[], ResultT]) -> None:
        """Prepare the call; untrusted parts of `text` must be sanitized."""
        super().__init__()
        self._text, self._work = text, work

    def compose(self) -> ComposeResult:
        yield Static(self._text.append_text("   esc stops waiting", MUTED))

    def on_mount(self) -> None:
        self.run_worker(self._wait())

    async def _wait(self) -> None:
        try:
            result = await asyncio.to_thread(self._work)
        except UsageError as error:
            result = error
        self.dismiss(result)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)


class CommentScreen(Dialog[str | None]):
    """Returns the text, or None on escape."""

    DEFAULT_CSS = """
    CommentScreen { align: left bottom; background: transparent; }
    CommentScreen > Static { height: 2; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    CommentScreen > Input.-textual-compact { width: 1fr; height: 1; border: none; padding: 0 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, title: Content, text: str) -> None:
        """Start with `text`; untrusted parts of the title must be sanitized."""
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        yield Static()
        yield Input(self._text, compact=True, select_on_focus=False)

    def on_resize(self) -> None:
        self.query_one(Static).update(self._heading(self.query_one(Input).value))

    def _heading(self, text: str) -> Content:
        """Return the title, the keys, and markers for invisible characters in the field; the title shrinks first."""
        marks = marks_in(text)
        keys = muted("   enter saves   esc cancels   empty removes")
        tail = Content.assemble(("   holds ", MUTED), marks, keys) if marks else keys
        room = max(self.size.width - tail.cell_length - 2, 20)
        title = self._title if self._title.cell_length <= room else lines.fit_name(self._title, room)
        return title.append(tail)

    @on(Input.Changed)
    def _show_marks(self, event: Input.Changed) -> None:
        self.query_one(Static).update(self._heading(event.value))

    @on(Input.Submitted)
    def _keep(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class NameNote(msgspec.Struct, frozen=True):
    """Feedback on a name being typed; shown as plain text."""

    words: str
    warns: bool = False
    refuses: bool = False
    """True if enter is blocked."""


class NameScreen(Dialog[str]):
    """Asks for a name; returns an empty string on escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss('')", show=False)]
    DEFAULT_CSS = """
    NameScreen { align: left bottom; background: transparent; }
    NameScreen > .ask { height: 2; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    NameScreen > Input.-textual-compact { width: 1fr; height: 1; border: none; padding: 0 1; background: $panel; }
    NameScreen > .note { height: 1; width: 1fr; padding: 0 1; background: $panel; }
    """

    def __init__(self, title: str, proposal: str, placeholder: str, note_of: Callable[[str], NameNote]) -> None:
        """Start with `proposal`; `note_of` returns the feedback on the current text."""
        super().__init__()
        self._title, self._proposal, self._placeholder, self._note_of = title, proposal, placeholder, note_of

    def compose(self) -> ComposeResult:
        yield Static(Content.assemble((self._title, "bold"), ("   enter saves, esc cancels", MUTED)), classes="ask")
        yield Input(self._proposal, compact=True, placeholder=self._placeholder, select_on_focus=False)
        yield Static(classes="note")

    def on_mount(self) -> None:
        self._show_note(self._proposal)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_note(event.value)

    def _show_note(self, text: str) -> None:
        note = self._note_of(text) if text.strip() else NameNote("")
        mark = f"{SYMBOLS.failed} " if note.refuses else f"{SYMBOLS.broken} " if note.warns else ""
        style = "$fail" if mark else MUTED
        self.query_one(".note", Static).update(Content.assemble((mark, style), one_line(note.words, 200, style)))

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        if name and not self._note_of(name).refuses:
            self.dismiss(name)


MORE = "+"
"""Key that shows all entries of a menu."""


class KeyMenu(Dialog[Action | None]):
    """Waits for one key; returns the chosen action, or None."""

    DEFAULT_CSS = """
    KeyMenu { align: left bottom; background: transparent; }
    KeyMenu > Static { height: auto; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, opener: Action, actions: list[Action], key_map: KeyMap, *, first: int = 0) -> None:
        """List actions; with `first`, only that many until the user asks for more. The keys of all actions work."""
        super().__init__()
        self._opener, self._first = opener, first
        self._actions = {key: action for action in actions for key in key_map.keys_of(action)}

    def compose(self) -> ComposeResult:
        yield Static()

    def on_mount(self) -> None:
        """Draw the menu once the width is known."""
        self._draw()

    def add(self, actions: Sequence[Action]) -> None:
        """Append actions that took time to find; a key that the menu already has keeps its meaning."""
        self._actions |= {action.keys[0]: action for action in actions if action.keys[0] not in self._actions}
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        self.query_one(Static).update(self._list(self.size.width - 2))

    def _list(self, width: int) -> Content:
        column = 26
        across = max(width // column, 1)
        cells = [
            lines.fit(Content.assemble((name_of_key(key), "bold $focus"), f"  {action.meaning}"), column)
            for key, action in [*self._actions.items()][: self._first or None]
        ]
        if self._first:
            more = len(self._actions) - self._first
            cells.append(lines.fit(Content.assemble((MORE, "bold $focus"), f"  more ({more})"), column))
        rows = [Content("").join(cells[start : start + across]) for start in range(0, len(cells), across)]
        title = Content.assemble((self._opener.title.removesuffix(": menu"), "bold"), ("   esc closes", MUTED))
        return Content("\n").join([title, *rows])

    def on_key(self, event: events.Key) -> None:
        """Return the key's action; any other key closes the menu."""
        event.stop()
        event.prevent_default()
        if self._first and event.character == MORE:
            self._first = 0
            self._draw()
            return
        self.dismiss(self._actions.get(event.character or "") or self._actions.get(event.key))
