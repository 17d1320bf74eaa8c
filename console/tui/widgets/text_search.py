"""`Hits`: where a text occurs in a transcript, and how a wrapped line shows it."""

import re
from collections.abc import Sequence

from textual.content import Content

from console.tui.widgets.block import Block

Hit = tuple[int, int, int, int]
"""Block, logical line, start and end offset in it."""


class Hits:
    """All places that hold a text, letter case aside, and the one that is looked at."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.current = 0

    def search(self, blocks: Sequence[Block], text: str) -> int:
        """Find a text and count its places; an empty text clears."""
        self.hits, self.current = [], 0
        if text:
            pattern = re.compile(re.escape(text), re.IGNORECASE)
            self.hits = [
                (place, number, match.start(), match.end())
                for place, block in enumerate(blocks)
                for number, line in enumerate(block.logical)
                for match in pattern.finditer(line.plain)
            ]
        return len(self.hits)

    def step(self, step: int) -> tuple[int, int]:
        """Go so many places on, round the end; return the number of the place from 1, and how many there are."""
        if not self.hits:
            return 0, 0
        self.current = (self.current + step) % len(self.hits)
        return self.current + 1, len(self.hits)

    def painted(self, line: Content, place: int, part: tuple[int, int, int], indent: int) -> Content:
        """Return a wrapped line with the places on it marked.

        Args:
            line: the wrapped line, indent included.
            place: number of its block.
            part: its logical line, start and end offset in that.
            indent: cells before the text.
        """
        number, start, end = part
        for index, (block, logical, first, last) in enumerate(self.hits):
            if (block, logical) == (place, number) and first < end and last > start:
                style = ".text--hit-now" if index == self.current else ".text--hit"
                line = line.stylize(style, max(first, start) - start + indent, min(last, end) - start + indent)
        return line
