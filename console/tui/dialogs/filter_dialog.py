"""`FilterDialog`: a text field above a list that it filters; enter returns the row under the cursor."""

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from console.tui.render.columns import Column
from console.tui.widgets.row_list import RowList

AnswerT = TypeVar("AnswerT")
AnswerCo = TypeVar("AnswerCo", covariant=True)


MOST_ROWS = 20
"""Maximum height of a growing list before it scrolls."""


class FilterRows(Protocol[AnswerCo]):
    """Rows of a `FilterDialog`: filtering, drawing and result."""

    def narrowed(self, text: str) -> list[str]:
        """Return the keys of the matching rows, best match first."""
        ...

    def draw_row(self, key: str) -> tuple[Content, ...]: ...

    def answer(self, key: str) -> AnswerCo | None:
        """Return the result of choosing a row; None keeps the dialog open."""
        ...


class FilterDialog(ModalScreen[AnswerT | None]):
    """Returns the choice, or None."""

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
    }
    """

    def __init__(
        self,
        rows: FilterRows[AnswerT],
        columns: Sequence[Column],
        *,
        hint: str,
        nothing: str,
        grows: bool = False,
    ) -> None:
        """Initialize the dialog.

        Args:
            rows: the choices.
            columns: layout of a row's cells.
            hint: placeholder of the text field.
            nothing: message for an empty list.
            grows: fit the list's height to its rows.
        """
        super().__init__()
        self._rows, self._columns, self._hint, self._nothing, self._grows = rows, columns, hint, nothing, grows

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_subtitle = "enter chooses   esc closes"
            yield Input(placeholder=self._hint, compact=True)
            yield RowList(self._columns, draw=self._rows.draw_row, empty=Content(self._nothing), steered=True)

    def on_mount(self) -> None:
        self.narrow()

    def narrow(self) -> None:
        """Show the matching rows with the cursor on the best one."""
        row_list = self.query_one(RowList)
        keys = self._rows.narrowed(self.query_one(Input).value)
        if self._grows:
            row_list.styles.height = max(min(len(keys), MOST_ROWS), 1)
        row_list.show(keys)
        if keys:
            row_list.move_to(keys[0])

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
        """Move the cursor in the list; the text field keeps the focus."""
        self.query_one(RowList).move_by(step)

    def _choose(self, key: str | None) -> None:
        chosen = self._rows.answer(key) if key is not None else None
        if chosen is not None:
            self.dismiss(chosen)
