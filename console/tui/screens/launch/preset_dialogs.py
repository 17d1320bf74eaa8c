"""Two small screens for presets: a name to keep one under, and the list to take one from."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.config.preset import Preset, Presets, suite_words
from console.insight import number_format
from console.tui.render.catalog_details import display_path
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import literal, one_line
from console.tui.widgets.row_list import Column, Face, RowList

_COLUMNS = (Column("preset", 12, 2), Column("models", 12, 3), Column("suites", 14, 3), Column("cases", 8, right=True))


class NameScreen(ModalScreen[str]):
    """Asks for the name of a preset; answers with an empty text when the reader stepped back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "step_back", show=False)]
    DEFAULT_CSS = """
    NameScreen { align: left bottom; background: transparent; }
    NameScreen > .ask { height: 2; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    NameScreen > Input { width: 1fr; height: 1; border: none; padding: 0 1; background: $panel; }
    NameScreen > .note { height: 1; width: 1fr; padding: 0 1; background: $panel; }
    """

    def __init__(self, proposal: str, taken: Sequence[str]) -> None:
        """Ask, starting from a proposal; a name that is `taken` already is replaced."""
        super().__init__()
        self._proposal = proposal
        self._taken = taken

    def compose(self) -> ComposeResult:
        """Lay out question, input and the note under it."""
        ask = Content.assemble(("Save as preset", "bold"), ("   enter saves, esc does not", "$muted"))
        yield Static(ask, classes="ask")
        yield Input(self._proposal, compact=True, placeholder="nightly", select_on_focus=False)
        yield Static(classes="note")

    def on_mount(self) -> None:
        """Say from the start what is wrong with the name."""
        self._show_note(self._proposal)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_note(event.value)

    def _show_note(self, text: str) -> None:
        note = self.query_one(".note", Static)
        if mistake := self._mistake_in(text):
            note.update(Content.styled(f"{SYMBOLS.failed} {mistake}", "$fail"))
        elif text.strip() in self._taken:
            note.update(Content.styled(f"{SYMBOLS.broken} there is one of that name; enter replaces it", "$fail"))
        else:
            note.update(Content.styled("a word for it; `eval-console run --preset NAME` plays it", "$muted"))

    @staticmethod
    def _mistake_in(text: str) -> str:
        if len(text) > 60 or not text.isprintable():
            return "at most 60 printable characters"
        return ""

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        if name and not self._mistake_in(name):
            self.dismiss(name)

    def action_step_back(self) -> None:
        """Save nothing."""
        self.dismiss("")


class PresetChooser(ModalScreen[str]):
    """Answers with the name of a preset, or an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss('')", show=False)]
    DEFAULT_CSS = """
    PresetChooser { align: center middle; background: transparent; }
    PresetChooser > Vertical { width: 96%; max-width: 110; height: 60%; background: $panel; border: round $focus;
                               padding: 0 1; }
    PresetChooser Static { height: auto; max-height: 5; margin-top: 1; } PresetChooser RowList { background: $panel; }
    """

    def __init__(self, presets: Presets) -> None:
        """List presets, and what is wrong with their files."""
        super().__init__()
        self._presets = presets

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        empty = Content("No preset is saved yet. esc, then w saves what is filled in.")
        with Vertical() as box:
            box.border_title = Content("Presets")
            box.border_subtitle = Content("enter fills the form in   esc closes")
            yield RowList(_COLUMNS, draw=self._draw, names=True, empty=empty)
            yield Static()

    def on_mount(self) -> None:
        """Show the presets."""
        mistakes = [f"! {place}" for place in range(len(self._presets.mistakes))]
        self.query_one(RowList).show([*(f"= {name}" for name in self._presets.presets), *mistakes])

    def _draw(self, key: str) -> Face:
        sign, _, name = key.partition(" ")
        if sign == "!":
            mistake = self._presets.mistakes[int(name)]
            words = f"{mistake.where}: {mistake.message}"
            return Content.assemble((f"{SYMBOLS.broken}  ", "bold $broken"), one_line(words, 200))
        return _cells(name, self._presets.presets[name])

    @on(RowList.RowHighlighted)
    def _show_about(self, event: RowList.RowHighlighted) -> None:
        sign, _, name = event.key.partition(" ")
        about = self.query_one(Static)
        if sign == "!":
            about.update(literal(str(self._presets.mistakes[int(name)]), 600))
        else:
            about.update(literal(f"in {display_path(self._presets.files[name])}", 300, "$muted"))

    @on(RowList.RowChosen)
    def _chosen(self, event: RowList.RowChosen) -> None:
        sign, _, name = event.key.partition(" ")
        if sign == "=":
            self.dismiss(name)


def _cells(name: str, preset: Preset) -> tuple[Content, ...]:
    cases = "failed of" if preset.only_failed_of else "ids" if preset.ids else "all"
    return (
        one_line(name, 60, "bold"),
        one_line(", ".join(preset.models), 100),
        one_line(", ".join(suite_words(preset.suites)), 100),
        Content(number_format.count(preset.limit) if preset.limit is not None else cases),
    )
