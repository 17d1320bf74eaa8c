"""A section of a report as a transcript block."""

from textual.content import Content

from console.insight.report import Section
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, block_title

_GAP = 3
_WIDEST_CELL = 60


def section_block(section: Section, title: str, width: int, *, headings: bool = False) -> Block:
    """Return the section's table and sentences; the first column is cut where the table is wider than `width` cells."""
    rows = [row.cells for row in section.shown()]
    if headings:
        rows.insert(0, section.headings)
    widths = [min(max(map(len, column)), _WIDEST_CELL) for column in zip(*rows, strict=True)]
    if widths:
        widths[0] = min(widths[0], max(width - sum(widths[1:]) - _GAP * len(widths), 12))
    table = [
        Content(" " * _GAP).join(
            lines.fit(
                one_line(cell, _WIDEST_CELL, MUTED if (headings and not line) or not place else ""),
                room,
                right=place in section.right,
            )
            for place, (cell, room) in enumerate(zip(cells, widths, strict=True))
        )
        for line, cells in enumerate(rows)
    ]
    words = [one_line(line, 300, MUTED) for line in (section.left_out(), *section.lines) if line]
    return Block(section.title, block_title(title), body=(*table, *words))
