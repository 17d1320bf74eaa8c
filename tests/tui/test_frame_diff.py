"""What is sent to the terminal: only what differs, and always enough that the terminal shows what it should."""

import random
from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from support.screen_text import assert_until, see
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from console.tui.frame_output import Difference, ShownFrame

WIDTH, HEIGHT = 24, 6
STYLES = [Style(), Style(bold=True), Style(color="red")]


class Terminal:
    """Remembers the last character and style written to every cell, as a terminal would."""

    def __init__(self) -> None:
        self.cells = [[(" ", "")] * WIDTH for _ in range(HEIGHT)]

    def draw(self, pieces: Sequence[tuple[int, int, Strip]]) -> None:
        for y, x, strip in pieces:
            for segment in strip:
                for character in segment.text:
                    self.cells[y][x] = character, str(segment.style)
                    x += 1

    def receive(self, update: object) -> None:
        if isinstance(update, Difference):
            self.draw(update.pieces)
        elif isinstance(update, LayoutUpdate):
            for y, line in enumerate(update.strips):
                self.draw([(y, 0, Strip.join(list(line)))])


def strip_of(chance: random.Random, width: int) -> Strip:
    segments: list[Segment] = []
    while width:
        part = chance.randint(1, min(width, 5))
        segments.append(Segment("".join(chance.choices("ab", k=part)), chance.choice(STYLES)))
        width -= part
    return Strip(segments)


def test_whatever_is_drawn_in_whatever_pieces_the_terminal_shows_it() -> None:
    chance = random.Random(7)
    painted, shown, wanted = ShownFrame(), Terminal(), Terminal()
    cuts: list[int] = []
    for turn in range(400):
        if turn % 10 == 0:
            cuts = [0, *sorted(chance.sample(range(1, WIDTH), 2)), WIDTH]
        if turn % 40 == 0:
            strips = [[strip_of(chance, last - first) for first, last in pairwise(cuts)]
                      for _ in range(HEIGHT)]  # fmt: skip
            update: LayoutUpdate | ChopsUpdate = LayoutUpdate(strips, Region(0, 0, WIDTH, HEIGHT))
            wanted.receive(update)
        else:
            y, part = chance.randrange(HEIGHT), chance.randrange(3)
            strip = strip_of(chance, cuts[part + 1] - cuts[part])
            chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for _ in range(HEIGHT)]
            chops[y][cuts[part]] = strip
            last = chance.randint(cuts[part] + 1, cuts[part + 1])
            update = ChopsUpdate(chops, [(y, cuts[part], last)], [cuts[1:]] * HEIGHT)
            wanted.draw([(y, cuts[part], strip.crop(0, last - cuts[part]))])
        shown.receive(painted.reduce(update))
        assert shown.cells == wanted.cells, turn


def chop(text: str) -> ChopsUpdate:
    return ChopsUpdate([{0: Strip([Segment("> ", STYLES[1]), Segment(text)])}], [(0, 0, 9)], [[9]])


def test_what_the_terminal_shows_already_is_not_sent_again() -> None:
    painted, console = ShownFrame(), Console(color_system=None, width=9)
    first = painted.reduce(chop("one two"))
    assert first is not None
    assert "one two" in first.render_segments(console)
    assert painted.reduce(chop("one two")) is None
    other = painted.reduce(chop("one six"))
    assert other is not None
    assert other.render_segments(console) == "\x1b[1;3Hone six"
    painted.forget()
    assert painted.reduce(chop("one six")) is not None


async def test_frames_are_left_out_while_the_terminal_is_behind(
    opened: Any,
) -> None:
    async with opened() as (app, pilot):
        sent, terminal = [], app.output.shown.reduce

        def reduce(update: Any) -> Any:
            sent.append(update)
            return terminal(update)

        app.output.shown.reduce = reduce
        waiting = SimpleNamespace(qsize=lambda: 30)
        app._driver._writer_thread = SimpleNamespace(_queue=waiting, stop=lambda: None)
        await see(pilot, lambda: app.screen.where == "library", "5")
        await see(pilot, lambda: app.screen.where == "home", "1", "tab", "j")
        assert sent == []
        waiting.qsize = lambda: 0
        await assert_until(pilot, lambda: bool(sent))
        assert not app.output.is_late
