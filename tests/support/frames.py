"""What the terminal shows, row by row, and frames of it that are committed as plain text."""

import os
from difflib import unified_diff
from pathlib import Path
from textwrap import fill
from typing import Protocol

from support.screen_text import strips_of
from textual.geometry import Region
from textual.screen import ModalScreen

from console.tui.app import ConsoleApp
from console.tui.screens.base import BaseScreen
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

SNAPSHOTS = Path(__file__).parents[1] / "tui" / "snapshots"
UPDATE = "UPDATE_FRAMES"
"""With this variable set, frames are written instead of compared."""


def rows_of(app: ConsoleApp) -> list[str]:
    """Return what the terminal shows, and check that every line is exactly as wide as the terminal."""
    strips = strips_of(app)
    width, height = app.size
    assert len(strips) == height
    assert {strip.cell_length for strip in strips} == {width}
    return [strip.text.rstrip() for strip in strips]


def frame_of(app: ConsoleApp) -> str:
    """Return the rows of the terminal as one text."""
    return "\n".join(rows_of(app)) + "\n"


def chrome_of(app: ConsoleApp) -> dict[int, str]:
    """Return the rows of top line and key line, of the place that is shown or that a dialog lies over."""
    base = next(screen for screen in reversed(app.screen_stack) if isinstance(screen, BaseScreen))
    rows: dict[int, str] = {}
    for widget in (*base.query(TopLine), *base.query(KeyLine)):
        if widget.display:
            strips = widget.render_lines(Region(0, 0, widget.size.width, widget.size.height))
            rows |= {y: strip.text.rstrip() for y, strip in enumerate(strips, widget.region.y)}
    return rows


def body_of(app: ConsoleApp) -> str:
    """Return the frame without top line and key line; a row of theirs that something covers stays."""
    chrome = chrome_of(app)
    return "".join(f"{row}\n" for y, row in enumerate(rows_of(app)) if chrome.get(y) != row)


def assert_snapshot(text: str, name: str) -> None:
    """Compare a text with the committed one of this name."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"there is no frame {name} yet; {UPDATE}=1 writes it"
    kept = path.read_text(encoding="utf-8")
    changes = "\n".join(unified_diff(kept.splitlines(), text.splitlines(), f"{name} as kept", "now", lineterm="", n=0))
    assert text == kept, f"a frame has changed; if that is meant, {UPDATE}=1 renews it:\n{changes}"


class AssertFrame(Protocol):
    """Compares what is shown with the committed frame: the body, or with `whole` top line and key line as well."""

    def __call__(self, app: ConsoleApp, name: str, *, whole: bool = False) -> None: ...


class ChromeLog:
    """Every top line and key line of a walk, each once, with the states that show it."""

    def __init__(self) -> None:
        self._top: dict[str, list[str]] = {}
        self._keys: dict[str, list[str]] = {}

    def take(self, app: ConsoleApp, state: str) -> None:
        """Add a state; one in which a dialog has the keys says nothing about the place below it."""
        if not isinstance(app.screen, ModalScreen):
            middle, rows = app.size.height // 2, chrome_of(app)
            for log, is_part in ((self._top, middle.__gt__), (self._keys, middle.__le__)):
                if part := "".join(f"{row}\n" for y, row in rows.items() if is_part(y)):
                    log.setdefault(part, []).append(state)

    def text(self) -> str:
        parts = [
            f"{part}{fill(', '.join(states), 100)}\n" for log in (self._top, self._keys) for part, states in log.items()
        ]
        return "\n".join(parts)
