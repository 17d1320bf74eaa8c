"""Picking the other run of a comparison from a list."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.tui import faces
from console.tui.stock import RunLine
from console.tui.widgets.rows import Face, Rows


class RunChooser(ModalScreen[RunLine | None]):
    """Answers with a run, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]
    DEFAULT_CSS = """
    RunChooser { align: center middle; background: transparent; }
    RunChooser > Vertical { width: 96%; max-width: 110; height: 80%; background: $panel; border: round $focus;
                            padding: 0 1; }
    RunChooser Static { height: 2; } RunChooser Rows { background: $panel; }
    """

    def __init__(self, title: Content, runs: Sequence[RunLine]) -> None:
        """List some runs under a title; foreign parts of it must come through `safe`."""
        super().__init__()
        self._title = title
        self._runs = {str(line.folder.path): line for line in runs}

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical():
            yield Static(self._title)
            yield Rows(faces.RUNS_NARROW, draw=self._draw, names=True, empty=Content("There is no other run of it."))

    def on_mount(self) -> None:
        """Show the runs."""
        self.query_one(Rows).show(list(self._runs))

    def _draw(self, key: str) -> Face:
        return faces.run_narrow(self._runs[key], time.time())

    @on(Rows.RowChosen)
    def _chosen(self, event: Rows.RowChosen) -> None:
        self.dismiss(self._runs[event.key])
