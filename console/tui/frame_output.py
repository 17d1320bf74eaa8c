"""Output to the terminal: sends only what changed, drops frames while the terminal lags, and filters for ASCII."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from console.core.ascii_text import to_ascii
from console.tui.textual_patches import ChopsUpdate, CompositorUpdate, LayoutUpdate, filter_frames, writes_waiting

MOST_WAITING = 6
"""Pending writes, two or three per frame, above which frames are dropped."""
CATCH_UP_S = 0.05
"""Seconds between checks whether a slow terminal has caught up."""


class FrameOutput:
    """Intercepts the app's frames on their way to the terminal."""

    def __init__(self, app: App[Any], first_drawn: Callable[[], None]) -> None:
        """Intercept the app's frames; `first_drawn` is called once the first one has been sent."""
        self._app = app
        self._first_drawn = first_drawn
        self._has_drawn = False
        self.shown = ShownFrame()
        self.is_late = False
        """True if frames are being dropped because the terminal lags."""
        filter_frames(app, self._is_held, self.reduce)

    def reduce(self, update: CompositorUpdate) -> CompositorUpdate | None:
        """Return the part of an update that the terminal does not show yet."""
        if not self._has_drawn:
            self._has_drawn = True
            asyncio.get_running_loop().call_soon(self._first_drawn)
        return self.shown.reduce(update)

    def _is_behind(self) -> bool:
        return writes_waiting(self._app) > MOST_WAITING

    def _is_held(self) -> bool:
        if not self._is_behind():
            return False
        if not self.is_late:
            self.is_late = True
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
        return True

    def _catch_up(self) -> None:
        """Redraw once the terminal has caught up."""
        if not self._app.is_running:
            return
        if self._is_behind():
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
            return
        self.is_late = False
        self._app.screen.refresh()


Piece = tuple[int, int, Strip]
"""Line and column of a strip, both zero-based, and the strip."""


class Difference(CompositorUpdate):
    """An update of separate pieces of the screen, in any order."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences that draw the pieces."""
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for y, x, strip in self.pieces)


class ShownFrame:
    """The terminal's current contents, kept to send only differences, which saves time over a remote connection.

    Textual sends every line of a widget that requests a redraw: a scrolling list, an unchanged scroll bar, the border
    of a pane whose title changes. A full-screen redraw is sent whole, to overwrite anything other programs wrote.
    """

    def __init__(self) -> None:
        self._lines: dict[int, dict[int, tuple[int, Strip]]] = {}

    def forget(self) -> None:
        """Discard the remembered contents, because another program has written to the terminal."""
        self._lines.clear()

    def reduce(self, update: CompositorUpdate) -> CompositorUpdate | None:
        """Return the part of an update that differs from the screen, None if nothing does, and remember it."""
        match update:
            case ChopsUpdate():
                pieces = [piece for y, x, end, strip in _pieces(update) if (piece := self._paint(y, x, end, strip))]
                return Difference(pieces) if pieces else None
            case LayoutUpdate():
                self.forget()
                for y, line in enumerate(update.strips, update.region.y):
                    x = update.region.x
                    for strip in line:
                        self._lines.setdefault(y, {})[x] = x + strip.cell_length, strip
                        x += strip.cell_length
            case _:
                self.forget()
        return update

    def _paint(self, y: int, x: int, end: int, strip: Strip) -> Piece | None:
        line = self._lines.setdefault(y, {})
        shown = line.get(x)
        if shown is not None and shown[0] == end and shown[1].cell_length == strip.cell_length:
            line[x] = end, strip
            return _changed(y, x, shown[1], strip)
        for other, (other_end, _) in list(line.items()):
            if other < end and other_end > x:
                del line[other]
        line[x] = end, strip
        return y, x, strip


def _pieces(update: ChopsUpdate) -> list[tuple[int, int, int, Strip]]:
    """Return (line, column, end, strip) of everything an update draws, following `ChopsUpdate.render_segments`."""
    pieces: list[tuple[int, int, int, Strip]] = []
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > last or end <= first:
                continue
            if first <= x < last and end <= last:
                pieces.append((y, x, end, strip))
            else:
                pieces.append((y, x, min(end, last), strip.crop(0, min(end, last) - x)))
    return pieces


def _changed(y: int, x: int, before: Strip, now: Strip) -> Piece | None:
    """Return the part of a strip that differs from the one on screen, or None if nothing does."""
    if before is now:
        return None
    old, new = list(before), list(now)
    if old == new:
        return None
    first, shared = 0, min(len(old), len(new))
    while first < shared and old[first] == new[first]:
        x += new[first].cell_length
        first += 1
    tail = 0
    while tail < shared - first and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = new[first : len(new) - tail]
    return (y, x, Strip(middle)) if middle else None


class AsciiFilter(LineFilter):
    """Replaces our non-ASCII characters with ASCII ones of the same width, for `--ascii`.

    Covers numbers, frames, bars and sentences; symbols have ASCII variants of their own (`console.tui.symbols`).
    Other letters are kept.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.control or segment.text.isascii() else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]
