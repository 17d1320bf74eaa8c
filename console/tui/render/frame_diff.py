"""`ShownFrame`: what the terminal shows, so that only what differs is sent: bytes cost time over a remote line.

Textual sends every line of a widget that asks to be drawn: a list that scrolls, a scroll bar that stays where it is,
the border of a pane whose title changes. `ShownFrame` remembers what was sent to each place and lets the rest through.
A drawing of the whole screen is always sent whole: it overwrites whatever else may have been written there.
"""

from collections.abc import Sequence

from rich.console import Console
from textual.strip import Strip

from console.tui.textual_patches import ChopsUpdate, CompositorUpdate, LayoutUpdate

Piece = tuple[int, int, Strip]
"""Line and column (from 0), and what is drawn from there on."""


class Difference(CompositorUpdate):
    """The pieces of the screen that have to be sent."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        """Take pieces in any order."""
        self.pieces = pieces

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences that draw the pieces."""
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for y, x, strip in self.pieces)


class ShownFrame:
    """What the terminal shows, as far as it is known."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[int, tuple[int, Strip]]] = {}

    def forget(self) -> None:
        """Forget what was sent, because another program has written to the terminal."""
        self._lines.clear()

    def take(self, update: CompositorUpdate) -> CompositorUpdate | None:
        """Return what of an update has to be sent, None when it shows nothing new, and remember it."""
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
    """Return (line, column, end, strip) of everything an update draws, as `ChopsUpdate.render_segments` does."""
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
    """Return the piece of a strip that differs from what stands in its place, None when nothing does."""
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
