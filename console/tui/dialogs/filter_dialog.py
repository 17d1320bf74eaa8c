"""`FilterDialog`: a line to type into above a list that it narrows; enter answers with the row under the cursor."""

from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from console.tui.widgets.row_list import Column, RowList

AnswerT = TypeVar("AnswerT")


class FilterDialog(ModalScreen[AnswerT | None]):
    """Answers with what was chosen, or None; see the module."""

    hint: ClassVar[str] = ""
    """What the empty line says."""
    nothing: ClassVar[str] = ""
    """What the list says when nothing is left of it."""
    columns: ClassVar[tuple[Column, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    FilterDialog {
        align: center top; background: $background 40%;
        & > Vertical {
            width: 76; max-width: 95%; height: auto; max-height: 80%; margin-top: 2; background: $panel;
            border: round $focus; border-subtitle-color: $muted;
        }
        & Input.-textual-compact { border: none; height: 1; background: $panel; padding: 0 1; margin-bottom: 1; }
        & RowList { height: auto; max-height: 20; background: $panel; }
        & RowList > .rows--cursor-away { background: $cursor; color: $cursor-text; text-style: bold; }
    }
    """

    # To be answered by sheets ----------------------------------------------------------------------------------------

    def narrowed(self, text: str) -> list[str]:
        """Return the keys of the rows that are left by what was typed, the best first."""
        raise AssertionError(f"a sheet narrows its own list: {text}")

    def draw_row(self, key: str) -> tuple[Content, ...]:
        """Return the cells of a row."""
        raise AssertionError(f"a sheet draws its own rows: {key}")

    def answer(self, key: str) -> AnswerT | None:
        """Return what choosing a row answers; None keeps the sheet open."""
        raise AssertionError(f"a sheet knows what its rows mean: {key}")

    # The sheet -------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out the line and the list."""
        with Vertical() as box:
            box.border_subtitle = "enter chooses   esc closes"
            yield Input(placeholder=self.hint, compact=True)
            yield RowList(self.columns, draw=self.draw_row, empty=Content(self.nothing))

    def on_mount(self) -> None:
        """Show everything at first."""
        self.narrow()

    def narrow(self) -> None:
        """Draw what is left, with the cursor on the best."""
        rows = self.query_one(RowList)
        keys = self.narrowed(self.query_one(Input).value)
        rows.show(keys)
        if keys:
            rows.move_to(keys[0])

    @on(Input.Changed)
    def _typed(self) -> None:
        self.narrow()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self._choose(self.query_one(RowList).cursor)

    @on(RowList.RowChosen)
    def _clicked(self, event: RowList.RowChosen) -> None:
        self._choose(event.key)

    def action_step(self, step: int) -> None:
        """Move through the list while the line keeps the focus."""
        self.query_one(RowList).move_by(step)

    def _choose(self, key: str | None) -> None:
        chosen = self.answer(key) if key is not None else None
        if chosen is not None:
            self.dismiss(chosen)
