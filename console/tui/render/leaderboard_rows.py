"""Lines of the leaderboard: suite headings, model rows, and details of the model under the cursor.

Rank, name and headline score are fixed; the other columns scroll sideways, so that all are reachable at any width.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

from textual.content import Content

from console.core.run import SIMULATED
from console.insight import number_format
from console.insight.leaderboard import Leaderboard, LeaderboardRow, mark_of
from console.suites.leaderboard import NOT_PLAYED, Cell
from console.tui.render import lines, row_cells
from console.tui.render.columns import GAP
from console.tui.sanitize import one_line, plain_line
from console.tui.symbols import MUTED, muted

_LEAST = 8
"""Minimum width of a column."""
_LEAST_NAME, _MOST_NAME = 24, 38
"""Bounds of the width of rank and name."""


class Room(NamedTuple):
    """Widths in cells."""

    row: int
    name: int
    """Width of rank, name and mark."""


def room_for(boards: Iterable[Leaderboard], width: int) -> Room:
    """Return the widths of rows of `width` cells; names come before scores, whose columns scroll."""
    longest = _LEAST_NAME
    for board in boards:
        models = (Content(plain_line(row.model)).cell_length + len(_mark(row)) + 6 for row in board.rows)
        longest = max(longest, len(board.suite) + 10, *models)
    return Room(width, min(longest, _MOST_NAME))


def columns_of(board: Leaderboard) -> list[str]:
    """Return the scrollable columns: sums first, unplayed ones last; without official columns, only played ones."""
    played = [name for name in board.columns[1:] if any(row.cells[name].is_played for row in board.rows)]
    if not board.rules.columns:
        return played
    sums = [name for name in board.rules.sums if name in board.columns[1:]]
    ordered = [*sums, *(name for name in board.columns[1:] if name not in sums)]
    return sorted(ordered, key=lambda name: name not in played)


def shown_columns(board: Leaderboard, left: int, room: Room) -> list[str]:
    """Return the columns that fit, starting with index `left`."""
    cells_left = room.row - room.name - _width(board, board.columns[0]) - 3
    fitting: list[str] = []
    for name in columns_of(board)[left:]:
        cells_left -= _width(board, name) + len(GAP)
        if cells_left < 0:
            break
        fitting.append(name)
    return fitting


def last_left(board: Leaderboard, room: Room) -> int:
    """Return the smallest `left` at which the last column is visible."""
    every = columns_of(board)
    return next((left for left in range(len(every)) if len(shown_columns(board, left, room)) == len(every) - left), 0)


def heading(board: Leaderboard, left: int, room: Room) -> Content:
    """Return the heading: suite, position among the columns, and column names."""
    names, count = shown_columns(board, left, room), len(columns_of(board))
    place = f"{left + 1}-{left + len(names)} of {count}" if len(names) < count else ""
    label = lines.spread(one_line(f"  {board.suite}", room.name + 1, "bold"), muted(place), room.name + 1)
    cells = [lines.fit_text(_heading(board, board.columns[0]), _width(board, board.columns[0]) + 4, right=True)]
    cells += [lines.fit_text(_heading(board, name), _width(board, name), right=True) for name in names]
    return lines.fit(label.append_text(GAP.join(cells), MUTED), room.row + 2)


def line(board: Leaderboard, place: int, left: int, room: Room, *, marked: bool) -> Content:
    """Return a model's row."""
    row = board.rows[place]
    mark = _mark(row)
    name = one_line(row.model, max(room.name - 5 - len(mark), 8)).append_text(f" {mark}" if mark else "", MUTED)
    rank = Content.styled("  A" if marked else f"{board.rank(place) or '–':>3}", "bold $live" if marked else MUTED)
    cells = [lines.fit(_cell(row.headline(board)), _width(board, board.columns[0]) + 1, right=True)]
    cells += [
        lines.fit(_cell(row.cells[column]), _width(board, column), right=True)
        for column in shown_columns(board, left, room)
    ]
    return lines.fit(rank.append(" ").append(lines.fit(name, room.name - 2)).append(Content(GAP).join(cells)), room.row)


def _mark(row: LeaderboardRow) -> str:
    return " ".join(filter(None, ("" if row.mode == "prompt" else row.mode, row.simulated_note)))


def _width(board: Leaderboard, column: str) -> int:
    """Return the width of a column's heading or longest cell, so that no number is cut."""
    return max(len(_heading(board, column)), *(_cell(row.cells[column]).cell_length for row in board.rows), _LEAST)


def _heading(board: Leaderboard, column: str) -> str:
    return plain_line(board.with_unit(column, board.rules.headings.get(column, column.replace("_", " "))))


def _cell(cell: Cell) -> Content:
    """Return a value with its interval, marked if there is a note on it; `— (1 of 4)` if parts of it are missing."""
    if cell.value is None:
        return muted(plain_line(cell.missing) if cell.is_played else NOT_PLAYED)
    if cell.unit == "plain":
        return Content.assemble((number_format.plain_number(cell.value), "bold"), (mark_of(cell.note), "$undecided"))
    show = number_format.rate if cell.unit == "rate" else number_format.number
    span = ""
    if cell.low is not None and cell.high is not None:
        write = None if cell.unit == "rate" else number_format.number
        span = f" {number_format.bounds(cell.low, cell.high, write)}"
    return Content.assemble((show(cell.value), "bold"), (mark_of(cell.note), "$undecided"), (span, MUTED))


def about(board: Leaderboard, row: LeaderboardRow, apart: str, width: int, height: int) -> list[Content]:
    """Return details of a row: time, cost, runs, people's scores, interval, remarks and missing columns."""
    paid = number_format.money(row.cost_usd, at_least=bool(row.cost_unknown))
    cost = SIMULATED if row.simulated_note == SIMULATED else paid
    when = row_cells.when(row.at, time.time(), wide=True)
    runs = muted(", ").join([one_line(name, lines.LONGEST_ID) for name in row.runs])
    about_lines = [
        Content.assemble(one_line(row.model, 40, "bold"), (f"  {row.mode}  {when}  {cost}", MUTED)),
        Content.assemble((f"{number_format.plural(len(row.runs), 'run')}  ", MUTED), runs),
    ]
    if apart:
        about_lines.append(Content.assemble(("not ranked by  ", MUTED), one_line(apart)))
    remarks = [one_line(remark, style="$undecided") for remark in board.rules.remarks(row.cells)]
    if board.rules.legend:
        about_lines.append(one_line(board.rules.legend, style=MUTED))
    if board.rules.details:
        about_lines += [*remarks, *_detail_lines(board, row, width)]
        return [lines.fit(line, width) for line in about_lines[:height]]
    cells = [row.cells[name] for name in board.columns if row.cells[name].value is not None]
    missing = [name for name in board.columns if row.cells[name].value is None]
    if len(cells) > 1 and cells[0].low is not None and cells[0].high is not None:
        show = None if cells[0].unit == "rate" else number_format.number
        span = f"95 % of {_heading(board, board.columns[0])}: {number_format.bounds(cells[0].low, cells[0].high, show)}"
        about_lines.append(one_line(span, style=MUTED))
    about_lines += remarks[: max(height - len(about_lines) - bool(missing), 1)]
    if missing:
        about_lines.append(one_line(f"N/A: {', '.join(missing)}", style=MUTED))
    return [lines.fit(line, width) for line in about_lines[:height]]


_TABLE = 12
"""Width of a table's title."""


def _detail_lines(board: Leaderboard, row: LeaderboardRow, width: int) -> list[Content]:
    """Return the values behind the sums by table, wrapped between values."""
    wrapped: list[Content] = []
    for table in board.rules.details:
        cells = [
            one_line(f"{label} ", style=MUTED).append(_cell(row.cells[column]))
            for column, label in table.labels.items()
            if column in row.cells
        ]
        if all(row.cells[column].value is None for column in table.labels if column in row.cells):
            cells = [muted("N/A")]
        wrapped.append(Content.styled(lines.fit_text(plain_line(table.title), _TABLE), "bold"))
        for cell in cells:
            gap = "" if wrapped[-1].cell_length == _TABLE else GAP
            if gap and wrapped[-1].cell_length + len(gap) + cell.cell_length > width:
                wrapped.append(Content(" " * _TABLE))
                gap = ""
            wrapped[-1] = wrapped[-1].append(gap).append(cell)
    return wrapped
