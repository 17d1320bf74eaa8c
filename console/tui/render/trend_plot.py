"""A small plot of a model's runs over time: a point for each value, a vertical line for its interval."""

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content

from console.insight.number_format import Show
from console.insight.trends import Point
from console.tui.symbols import MUTED, muted

_LABEL = 7
"""Width of the labels on the left, in cells."""
_SLOT = 4
"""Minimum number of cells per run."""


def plot_lines(points: Sequence[Point], width: int, height: int, show: Show, *, is_rate: bool) -> list[Content]:
    """Return a plot of the newest runs with a value that fit, oldest first, with their dates in the last line."""
    valued = [point for point in points if point.value is not None]
    shown = valued[-max((width - _LABEL - 1) // _SLOT, 1) :]
    rows = height - 1
    if len(shown) < 2 or rows < 3:
        return []
    bottom, top = _range(shown, is_rate=is_rate)
    slot = min(max((width - _LABEL - 1) // len(shown), _SLOT), 12)
    cells = [[" "] * (slot * len(shown)) for _ in range(rows)]
    for place, point in enumerate(shown):
        column = place * slot + slot // 2
        for bound in _rows_between(point, bottom, top, rows):
            cells[bound][column] = "│"
        cells[_row(point.value or 0.0, bottom, top, rows)][column] = "●"
    labels = {0: show(top), rows - 1: show(bottom)}
    if rows > 4:
        labels[(rows - 1) // 2] = show(top - (top - bottom) * ((rows - 1) // 2) / (rows - 1))
    return [
        *(_line(labels.get(number, ""), "".join(line)) for number, line in enumerate(cells)),
        _dates(shown, slot),
    ]


def _range(points: Sequence[Point], *, is_rate: bool) -> tuple[float, float]:
    """Return the values at the bottom and the top: all intervals fit, rates are rounded outward to tenths."""
    low = min(point.low if point.low is not None else point.value or 0.0 for point in points)
    high = max(point.high if point.high is not None else point.value or 0.0 for point in points)
    if is_rate:
        return max(int(low * 10) / 10, 0.0), min((int(high * 10) + 1) / 10, 1.0)
    return (low, high) if high > low else (low - 1, high + 1)


def _row(value: float, bottom: float, top: float, rows: int) -> int:
    return min(max(round((top - value) / (top - bottom) * (rows - 1)), 0), rows - 1)


def _rows_between(point: Point, bottom: float, top: float, rows: int) -> range:
    if point.low is None or point.high is None:
        return range(0)
    return range(_row(point.high, bottom, top, rows), _row(point.low, bottom, top, rows) + 1)


def _line(label: str, cells: str) -> Content:
    parts: list[Content | tuple[str, str]] = [(f"{label:>{_LABEL - 1}} ┤" if label else f"{'':{_LABEL}}│", MUTED)]
    parts += [(cell, "bold $pass" if cell == "●" else MUTED) for cell in cells.rstrip()]
    return Content.assemble(*parts)


def _dates(points: Sequence[Point], slot: int) -> Content:
    """Return the axis line with the dates of the first and last run."""
    first, last = (
        datetime.fromtimestamp(point.at, UTC).astimezone().strftime("%d %b").lstrip("0")
        for point in (points[0], points[-1])
    )
    room = max(slot * len(points) - len(first), len(last) + 1)
    return muted(f"{'':{_LABEL + 1}}{first}{last:>{room}}")
