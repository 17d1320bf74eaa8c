"""`Chooser`: picks one line from a list over the screen: another run, another model."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.tui.widgets.row_list import Column, Face, RowList


class Chooser(ModalScreen[str | None]):
    """Answers with the key of a line, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]
    DEFAULT_CSS = """
    Chooser { align: center middle; background: transparent; }
    Chooser > Vertical { width: 96%; max-width: 110; height: 80%; background: $panel; border: round $focus;
                         border-subtitle-color: $muted; padding: 0 1; }
    Chooser Static { height: 2; } Chooser RowList { background: $panel; }
    """

    def __init__(self, title: Content, columns: Sequence[Column], faces: Mapping[str, Face], empty: str) -> None:
        """List some lines under a title; foreign parts of it must come through `sanitize`.

        Args:
            title: what is chosen.
            columns: of the list.
            faces: the cells of each line, by the key that is answered.
            empty: what is said when there is no line.
        """
        super().__init__()
        self._title, self._columns, self._faces, self._empty = title, columns, faces, empty

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical() as box:
            box.border_subtitle = "enter chooses   esc closes"
            yield Static(self._title)
            yield RowList(tuple(self._columns), draw=self._faces.__getitem__, names=True, empty=Content(self._empty))

    def on_mount(self) -> None:
        """Show the lines."""
        self.query_one(RowList).show(list(self._faces))

    @on(RowList.RowChosen)
    def _chosen(self, event: RowList.RowChosen) -> None:
        self.dismiss(event.key)
