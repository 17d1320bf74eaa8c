"""A section of a report as a transcript block."""

from textual.content import Content

from console.insight.report import Row, Section
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, block_title

_GAP = 3
_WIDEST_CELL = 60


def section_block(section: Section, title: str, width: int) -> Block:
    """Return the section's table and sentences; the first column is cut where the table is wider than `width` cells."""
    table = _table(section, width) if section.rows else ()
    notes = dict.fromkeys(f"{row.cells[0]}: {row.note}" for row in section.shown() if row.note)
    words = [one_line(line, 300, MUTED) for line in (section.left_out(), *notes, *section.lines) if line]
    return Block(section.title, block_title(title), body=(*table, *words))


def _table(section: Section, width: int) -> tuple[Content, ...]:
    rows = [section.headings, *map(_cells, section.shown())]
    widths = [min(max(map(len, column)), _WIDEST_CELL) for column in zip(*rows, strict=True)]
    widths[0] = min(widths[0], max(width - sum(widths[1:]) - _GAP * len(widths), 12))
    return tuple(
        Content(" " * _GAP).join(
            lines.fit(
                one_line(cell, _WIDEST_CELL, "" if line and not place else MUTED),
                room,
                right=place in section.right,
            )
            for place, (cell, room) in enumerate(zip(cells, widths, strict=True))
        )
        for line, cells in enumerate(rows)
    )


def _cells(row: Row) -> tuple[str, ...]:
    first, *others = row.cells
    return ("  " * row.level + first, *others)
