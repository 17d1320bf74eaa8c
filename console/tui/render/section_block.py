"""A section of a report as a transcript block."""

from textual.content import Content

from console.core.shortening import shorten_label
from console.insight.report import Section, footnotes
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, block_title

_GAP = 3
_WIDEST_CELL = 60


def section_block(section: Section, title: str, width: int) -> Block:
    """Return the section's table and sentences; names in the first column are shortened to fit `width` cells."""
    table = _table(section, width) if section.rows else ()
    notes = [f"{names}: {note}" for note, names in footnotes(section.shown())]
    words = [one_line(line, 300, MUTED) for line in (section.left_out(), *notes, *section.lines) if line]
    return Block(section.title, block_title(title), body=(*table, *words))


def _table(section: Section, width: int) -> tuple[Content, ...]:
    first, *headings = section.headings
    rows = [("" if first == section.title else first, *headings), *(row.indented for row in section.shown())]
    widths = [min(max(map(len, column)), _WIDEST_CELL) for column in zip(*rows, strict=True)]
    widths[0] = min(widths[0], max(width - sum(widths[1:]) - _GAP * len(widths), 12))
    return tuple(
        Content(" " * _GAP).join(
            lines.fit(
                one_line(
                    cell if place else shorten_label(cell, room), _WIDEST_CELL, "" if line and not place else MUTED
                ),
                room,
                right=place in section.right,
            )
            for place, (cell, room) in enumerate(zip(cells, widths, strict=True))
        )
        for line, cells in enumerate(rows)
    )
