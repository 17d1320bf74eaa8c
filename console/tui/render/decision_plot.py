"""The interim looks that may end a run: a line, and a small plot of estimate and boundary over the looks."""

from collections.abc import Sequence
from textwrap import wrap

from textual.content import Content

from console.core.looks import Contender, Look, LookPlan, Rule, Until
from console.core.statistics.decision import Decision
from console.insight.looks import (
    contender_words,
    difference_words,
    expected_words,
    points,
    race_answer,
    until_words,
    worse_beyond,
)
from console.insight.number_format import count, rate, signed, with_interval
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted

_LABEL = 7
"""Width of the labels on the left, in cells."""
_SLOT = 3
"""Cells per look."""
_GAP = 3
"""Cells between the plot and the forecast to its right."""
_LEAST_FORECAST = 30
"""Minimum number of cells for the forecast."""
_DOT = "●"


def decision_title(until: Until) -> Content:
    """Return the title of the pane."""
    return one_line(f"Decision · {until_words(until)}", 100)


def decision_lines(plan: LookPlan, looks: Sequence[Look], width: int, height: int) -> list[Content]:
    """Return the newest look in a line and, if there is room, a plot below it."""
    assert plan.until is not None
    if plan.until.rule is Rule.BEST:
        return _race_lines(plan, looks, width, height)
    asked = [look for look in looks if look.difference is not None or plan.until.rule is not Rule.DECIDED]
    lines = [_newest(plan, asked)]
    category = asked[-1].category if asked else ""
    drawn = [look for look in asked if look.category == category]
    rows = height - 1
    if drawn and rows >= 3:
        last = drawn[-1].of
        slots = min(last, max((width - _LABEL - 2) // _SLOT, 1))
        plot = _plot(plan.until, drawn, slots, rows)
        lines += _with_forecast(plan, plot, width - _LABEL - 2 - slots * _SLOT - _GAP)
    elif height > 1:
        lines.append(muted(expected_words(plan)))
    return lines[:height]


def _race_lines(plan: LookPlan, looks: Sequence[Look], width: int, height: int) -> list[Content]:
    """Return the latest standings of a race: on one line, or each model with its interval behind the leader."""
    look = next((look for look in reversed(looks) if look.standings), None)
    if look is None:
        return [_newest(plan, []), muted(expected_words(plan))][:height]
    assert plan.until is not None
    head = f"look {look.number} of {look.of}   {count(look.rollouts)} of {count(look.planned)}"
    head += f"   {race_answer(look.decision, plan.until, looks)}" if look.decision else ""
    if height == 1:
        return [one_line("   ".join([head, *map(contender_words, look.standings)]), width, "bold")]
    shown = look.standings[: height - 1]
    name = min(max(len(one.model) for one in shown), width // 3)
    words = [difference_words(one) if one.difference is not None else "leader" for one in shown]
    wide = max(map(len, words))
    room = min(width - name - wide - 21, 60)
    least = min([-0.02, *(one.below for one in shown if one.below is not None)])
    most = max([0.0, *(one.above for one in shown if one.above is not None)])
    lines = [one_line(head, 200, "bold")]
    for one, text in zip(shown, words, strict=True):
        value = "–" if one.value is None else rate(one.value)
        parts = [one_line(f"{one.model:<{name}.{name}}  {value:>5}  {text:<{wide}}  ", width)]
        parts += [_span(one, least, most, room)] * (room >= 10)
        parts += [muted(f" out at {one.out_at}")] * bool(one.out_at)
        lines.append(Content.assemble(*parts))
    return lines


def _span(one: Contender, least: float, most: float, room: int) -> Content:
    """Draw the interval of a model's distance from the leader on a line from `least` to `most`, with a mark at zero."""

    def cell(value: float) -> int:
        return min(max(round((value - least) / (most - least) * (room - 1)), 0), room - 1)

    cells = [" "] * room
    first, last = cell(one.below or 0.0), cell(one.above or 0.0)
    cells[first : last + 1] = ["┄"] * (last + 1 - first)
    cells[cell(0.0)] = "│"
    cells[cell(one.difference or 0.0)] = _DOT
    color = "bold $fail" if one.out_at else "bold $pass"
    return Content.assemble(*((mark, color if mark == _DOT else MUTED) for mark in cells))


def _newest(plan: LookPlan, looks: Sequence[Look]) -> Content:
    assert plan.until is not None
    if not looks:
        first = plan.questions[-1]
        upto = (first.rollouts or first.at)[0]
        return muted(f"no look yet: the first is at {count(upto)} of {count((first.rollouts or first.at)[-1])}")
    look = looks[-1]
    parts = [f"look {look.number} of {look.of}", f"{count(look.rollouts)} of {count(look.planned)}"]
    parts += [look.category] * bool(look.category)
    if look.difference is not None:
        parts.append(f"B − A  {difference_words(look)}")
        if not look.decision:
            parts.append(f"worse beyond {signed(worse_beyond(look, plan.until), rate)}")
    elif look.value is not None:
        parts.append(with_interval(look.value, look.low, look.high))
        if look.low is not None and look.high is not None and plan.until.rule is Rule.WIDTH:
            parts.append(f"± {(look.high - look.low) * 50:.2f} of ± {points(plan.until.half_width)}")
    parts += [str(look.decision)] * bool(look.decision)
    return one_line("   ".join(parts), 200, "bold")


def _plot(until: Until, looks: Sequence[Look], slots: int, rows: int) -> list[Content]:
    """Draw the estimate of each look and the boundary that it would have to cross."""
    series = [_series(until, look) for look in looks[-slots:]]
    estimates = [abs(row[0] or 0.0) for row in series]
    reach = max(0.02, 1.6 * max(estimates), *(1.3 * abs(bound) for bound in series[-1][1:] if bound is not None))
    top, bottom = (reach, -reach) if until.rule is Rule.DECIDED else (reach, 0.0)
    cells = [[" "] * (slots * _SLOT) for _ in range(rows)]

    def row_of(value: float) -> int:
        return min(max(round((top - value) / (top - bottom) * (rows - 1)), 0), rows - 1)

    zero = row_of(0.0 if until.rule is Rule.DECIDED else until.half_width)
    cells[zero] = list("─" * (slots * _SLOT))
    marks = [_mark(look) for look in looks[-slots:]]
    for place, (mark, (estimate, *bounds)) in enumerate(zip(marks, series, strict=True)):
        for bound in bounds:
            if bound is not None and bottom <= bound <= top:  # those of the first looks are far away
                cells[row_of(bound)][place * _SLOT : place * _SLOT + _SLOT] = "┄┄┄"
        cells[row_of(estimate or 0.0)][place * _SLOT + 1] = mark
    labels = {0: _percent(top, until), rows - 1: _percent(bottom, until), zero: _percent(0.0, until)}
    if until.rule is not Rule.DECIDED:
        labels[zero] = _percent(until.half_width, until)
    return [_line(labels.get(number, ""), "".join(line)) for number, line in enumerate(cells)]


def _mark(look: Look) -> str:
    if look.decision == Decision.WORSE:
        return SYMBOLS.failed
    return _DOT if not look.decision else SYMBOLS.undecided if look.decision == Decision.CANNOT_TELL else SYMBOLS.passed


def _with_forecast(plan: LookPlan, plot: Sequence[Content], room: int) -> list[Content]:
    """Add the expected end of the run to the right of a plot, in at most half of its lines."""
    words = wrap(f"expected when planned: {expected_words(plan).partition(': ')[2]}", max(room, _LEAST_FORECAST))
    if room < _LEAST_FORECAST or not plan.expected or len(words) > len(plot) // 2:
        return list(plot)
    left = max(line.cell_length for line in plot) + _GAP
    return [
        Content.assemble(line.pad_right(left - line.cell_length), (words[number] if number < len(words) else "", MUTED))
        for number, line in enumerate(plot)
    ]


def _series(until: Until, look: Look) -> tuple[float | None, ...]:
    """Return the estimate of a look and its boundaries, for the difference or the half width."""
    if until.rule is Rule.DECIDED:
        worse = worse_beyond(look, until)
        return look.difference, worse, -2 * until.margin - worse
    return ((look.high or 0.0) - (look.low or 0.0)) / 2, None


def _percent(value: float, until: Until) -> str:
    text = f"{abs(value) * 100:.0f}" if abs(value) >= 0.095 else f"{abs(value) * 100:.1f}".removesuffix(".0")
    sign = "" if not value else ("+" if value > 0 else "−") if until.rule is Rule.DECIDED else "±"
    return f"{sign}{text}"


def _line(label: str, cells: str) -> Content:
    parts: list[Content | tuple[str, str]] = [(f"{label:>{_LABEL - 1}} ┤", MUTED)]
    colors = {_DOT: "$pass", SYMBOLS.passed: "$pass", SYMBOLS.failed: "$fail", SYMBOLS.undecided: "$undecided"}
    parts += [(cell, f"bold {colors[cell]}" if cell in colors else MUTED) for cell in cells.rstrip()]
    return Content.assemble(*parts)
