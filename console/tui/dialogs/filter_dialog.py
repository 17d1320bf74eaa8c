"""`FilterDialog`: a text field above a list that it filters; enter returns the row under the cursor."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from console.tui.data.filter_in_force import match_rank
from console.tui.dialogs.small_dialogs import Dialog
from console.tui.render.columns import Column, Face
from console.tui.widgets.row_list import RowList

AnswerT = TypeVar("AnswerT")
AnswerCo = TypeVar("AnswerCo", covariant=True)


MOST_ROWS = 20
"""Maximum height of a growing list before it scrolls."""


class FilterRows(Protocol[AnswerCo]):
    """Rows of a `FilterDialog`: filtering, drawing, and the result of choosing one."""

    def narrowed(self, text: str) -> list[str]:
        """Return the keys of the matching rows, best match first."""
        ...

    def draw_row(self, key: str) -> Face: ...

    def answer(self, key: str) -> AnswerCo | None:
        """Return the result of choosing a row; None keeps the dialog open."""
        ...


class FilterDialog(Dialog[AnswerT | None]):
    """Returns the choice, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    FilterDialog {
        align: center top; background: $background 40%;
        & > Vertical {
            width: 76; max-width: 95%; height: auto; max-height: 90%; margin-top: 2; background: $panel;
            border: round $focus; border-subtitle-color: $muted;
        }
        & Input.-textual-compact { border: none; height: 1; background: $panel; padding: 0 1; margin-bottom: 1; }
        & RowList { height: auto; max-height: 50vh; background: $panel; }
        &.-tall RowList { max-height: 20; }
        & Static { height: auto; max-height: 5; margin-top: 1; }
        &.-short .-about RowList { max-height: 9; }
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
        title: Content | None = None,
        names: bool = False,
        about: Callable[[str], Content] | None = None,
    ) -> None:
        """Initialize the dialog.

        Args:
            rows: the choices.
            columns: layout of a row's cells.
            hint: placeholder of the text field.
            nothing: message for an empty list.
            grows: fit the list's height to its rows.
            title: heading; untrusted parts must be sanitized.
            names: show the names of the columns.
            about: describes the row under the cursor, below the list.
        """
        super().__init__()
        self._rows, self._columns, self._hint, self._nothing, self._grows = rows, columns, hint, nothing, grows
        self._title, self._names, self._about = title, names, about

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title, box.border_subtitle = self._title, "type to filter   enter chooses   esc closes"
            yield Input(placeholder=self._hint, compact=True)
            empty = Content(self._nothing)
            yield RowList(self._columns, draw=self._rows.draw_row, empty=empty, names=self._names, steered=True)
            if self._about is not None:
                box.add_class("-about")
                yield Static()

    def on_mount(self) -> None:
        self.narrow()

    def narrow(self) -> None:
        """Show the matching rows with the cursor on the best one; a list takes half of the screen at most."""
        row_list = self.query_one(RowList)
        keys = self._rows.narrowed(self.query_one(Input).value)
        if self._grows:
            most = min(MOST_ROWS, self.size.height // 2)
            row_list.styles.height = min(max(len(keys), 1) + self._names, most)
        row_list.show(keys)
        if keys:
            row_list.move_to(keys[0])

    @on(RowList.RowHighlighted)
    def _show_about(self, event: RowList.RowHighlighted) -> None:
        if self._about is not None:
            self.query_one(Static).update(self._about(event.key))

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

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole pages of the list."""
        row_list = self.query_one(RowList)
        row_list.move_by(pages * row_list.page)

    def _choose(self, key: str | None) -> None:
        chosen = self._rows.answer(key) if key is not None else None
        if chosen is not None:
            self.dismiss(chosen)


class ChoiceRows:
    """Rows of a `Chooser`: drawn cells, matched by their text."""

    def __init__(self, faces: Mapping[str, Face]) -> None:
        self._faces = faces
        self._texts = {key: _texts_of(face) for key, face in faces.items()}

    def narrowed(self, text: str) -> list[str]:
        ranks = {key: match_rank(text, *texts) for key, texts in self._texts.items()}
        return sorted((key for key in ranks if ranks[key] is not None), key=lambda key: ranks[key] or 0)

    def draw_row(self, key: str) -> Face:
        return self._faces[key]

    def answer(self, key: str) -> str:
        return key


def _texts_of(face: Face) -> list[str]:
    """Return the texts of a row, its name first: the first cell that is more than a symbol."""
    texts = [cell.plain for cell in ([face] if isinstance(face, Content) else face)]
    return sorted(texts, key=lambda text: len(text) < _LEAST_NAME)


_LEAST_NAME = 3
"""Minimum number of characters of a cell that names its row."""


class Chooser(FilterDialog[str]):
    """Returns the key of a row, or None."""

    DEFAULT_CSS = """
    Chooser { align: center middle; background: transparent; }
    Chooser > Vertical { width: 96%; max-width: 110; margin-top: 0; padding: 0 1; }
    """

    def __init__(self, title: Content, columns: Sequence[Column], faces: Mapping[str, Face], empty: str) -> None:
        """List rows under a title; untrusted parts of the title must be sanitized.

        Args:
            title: heading.
            columns: layout of the list.
            faces: cells of each row, by key.
            empty: message for a list without any row.
        """
        nothing = "Nothing matches." if faces else empty
        rows = ChoiceRows(faces)
        super().__init__(rows, columns, hint="type to filter", nothing=nothing, grows=True, title=title, names=True)
