"""Layout of a list's columns: visibility and widths by available room, and rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
from textual.content import Content

from console.tui.render import lines

GAP = "  "
"""Gap between two columns."""
Face = Content | Sequence[Content]
"""Contents of a row: one text for the whole width (a heading), or one per column."""


class Column(msgspec.Struct, frozen=True):
    """One column: trusted heading, usual width in cells, share of the spare room, alignment."""

    name: str
    width: int
    share: int = 0
    right: bool = False
    from_width: int = 0
    """Minimum width of the list for showing the column."""
    worth: int = 0
    """Minimum useful width: a narrower column is omitted, since the first words of a sentence are not enough."""
    is_name: bool = False
    """True if cells are ids, which are cut in the middle."""


WHY = Column("why", 8, 99, worth=8)
"""Reasons next to ids; gets the room that ids leave."""


def lay_out(columns: Sequence[Column], room: int) -> list[tuple[int, Column, int]]:
    """Return (index, column, width) of the columns shown in `room` cells."""
    shown = [(place, column) for place, column in enumerate(columns) if room >= column.from_width]
    while True:
        widths = column_widths([c.width for _, c in shown], [c.share for _, c in shown], room, len(GAP))
        laid_out = [(place, column, width) for (place, column), width in zip(shown, widths, strict=True)]
        worthless = [place for place, column, width in laid_out if width < column.worth]
        if not worthless:
            return laid_out
        shown = [(place, column) for place, column in shown if place != worthless[-1]]


def marked_columns(columns: Sequence[Column], name: str, sign: str) -> tuple[Column, ...]:
    """Return the columns with an arrow in the heading of the sorted one, which is always shown."""
    marked = f"{name} {sign}"
    return tuple(
        msgspec.structs.replace(column, name=marked, width=max(column.width, len(marked)), from_width=0, worth=0)
        if column.name == name and name
        else column
        for column in columns
    )


def row(columns: Sequence[Column], cells: Sequence[Content], room: int) -> Content:
    """Return one row; missing cells are empty."""
    parts = [
        _fit(cells[place] if place < len(cells) else Content.empty(), width, column)
        for place, column, width in lay_out(columns, room)
    ]
    return Content(GAP).join(parts)


def _fit(cell: Content, width: int, column: Column) -> Content:
    return lines.fit_name(cell, width) if column.is_name else lines.fit(cell, width, right=column.right)


@dataclass
class LongIds:
    """Ids too long for their column, shortened so that neighboring rows remain distinguishable."""

    starts: dict[tuple[int, int, int], dict[str, int]] = field(
        default_factory=dict[tuple[int, int, int], dict[str, int]]
    )
    """Start offset of each id, by block of rows, column and width."""

    def told_apart(
        self,
        columns: Sequence[Column],
        cells: Sequence[Content],
        room: int,
        place: int,
        rows: Callable[[int, int], Iterable[Face]],
    ) -> Sequence[Content]:
        """Return the cells of a row; an id that is too long begins where it differs.

        Args:
            columns: the columns.
            cells: their contents.
            room: width of the row.
            place: index of the row in the list.
            rows: returns the contents of the rows from one index to another.
        """
        for number, column, width in lay_out(columns, room):
            name = cells[number] if column.is_name and number < len(cells) else Content.empty()
            if name.cell_length <= width or name.plain.count(" ") > 1:
                continue
            block, sign = place // _BLOCK * _BLOCK, 2 * (name.plain[1:2] == " ")  # a sign of folding stays
            if (block, number, width) not in self.starts:
                others = [
                    face[number].plain[sign:]
                    for face in rows(block, block + _BLOCK)
                    if not isinstance(face, Content) and number < len(face)
                ]
                self.starts[block, number, width] = lines.tell_apart(others, width - sign)
            start = self.starts[block, number, width].get(name.plain[sign:], 0)
            begun = name[:sign].append(lines.begun_at(name[sign:], start, width - sign))
            return [*cells[:number], begun, *cells[number + 1 :]]
        return cells


_BLOCK = 64
"""Number of neighboring rows whose ids are shortened together."""


def with_names(columns: Sequence[Column], longest: int) -> tuple[Column, ...]:
    """Return the columns with the ids' column as wide as the longest id, within reason."""
    width = min(max(longest, _LEAST_NAME), _MOST_NAME)
    return tuple(
        msgspec.structs.replace(column, width=width, share=1) if column.is_name else column for column in columns
    )


def column_widths(least: Sequence[int], shares: Sequence[int], total: int, gap: int) -> list[int]:
    """Distribute the width of a row over its columns.

    Args:
        least: minimum width of each column.
        shares: each column's weight in sharing the spare room; 0 fixes it at its minimum.
        total: width of the row in cells.
        gap: cells between columns.

    Returns:
        Widths in cells. If there is too little room, columns with a share shrink to four cells, the widest first.
    """
    spare = total - sum(least) - gap * max(len(least) - 1, 0)
    if spare < 0:
        return _squeezed(list(least), shares, -spare)
    weight = sum(shares)
    widths = [width + (spare * share // weight if weight else 0) for width, share in zip(least, shares, strict=True)]
    if weight:
        last = max(index for index, share in enumerate(shares) if share)
        widths[last] += spare - sum(spare * share // weight for share in shares)
    return widths


_LEAST_WIDTH = 4
_LEAST_NAME, _MOST_NAME = 8, 44


def _squeezed(widths: list[int], shares: Sequence[int], missing: int) -> list[int]:
    elastic = [index for index, share in enumerate(shares) if share]
    while missing > 0 and elastic:
        widest = max(elastic, key=lambda index: widths[index])
        if widths[widest] <= _LEAST_WIDTH:
            break
        widths[widest] -= 1
        missing -= 1
    return widths
