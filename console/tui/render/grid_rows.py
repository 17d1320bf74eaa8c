"""Lines of the grid: runs, scores by category, failure reasons, and outcomes by case.

Each share is shown as a number and a bar, so that it is readable without color.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
from textual.content import Content

from console.core.case import Key
from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval
from console.insight import number_format
from console.insight.grid import Grid, GridCase, GridRow, ReasonCounts
from console.insight.run_number import REROLLED
from console.tui.render import lines
from console.tui.render.columns import GAP, WHY, Column, with_names
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, bar, block_title, muted, outcome_sign

_CELL, _PLAIN_CELL = 13, 7
"""Width of a run's column in the category table: brackets and a number, with and without a bar."""
_BAR = 5
_NAME = Column("category", 14, 1, is_name=True)
_COUNT = Column("cases", 5, right=True)
EVERY_CATEGORY = "every category"


def run_lines(grid: Grid, width: int) -> list[Content]:
    """Return a line per run: number, model, score and name; where a name has little room, descriptions are dropped.

    If that is not enough, the number of cases stands once, below.
    """
    basis = f" of {grid.basis}"
    notes = [f"  {side.manifest.simulated_note}" if side.manifest.simulated else "" for side in grid.sides]
    names = [one_line(side.title, lines.LONGEST_ID, MUTED) for side in grid.sides]
    below: list[Content] = []
    for note_of, words in ((notes, f"{basis} graded in all"), (notes, basis), ([""] * len(notes), basis), (notes, "")):
        heads = [_run_head(grid, place, note, words) for place, note in enumerate(note_of)]
        below = [] if words else [lines.fit(muted(f"  {basis} graded in all"), width)]
        if all(
            width - head.cell_length >= min(name.cell_length, _LEAST_RUN)
            for head, name in zip(heads, names, strict=True)
        ):
            break
    return [
        head.append(lines.fit_name(name, min(max(width - head.cell_length, 0), name.cell_length)))
        for head, name in zip(heads, names, strict=True)
    ] + below


_LEAST_RUN = 20
"""Minimum width of a run's name."""


def _run_head(grid: Grid, place: int, note: str, basis: str) -> Content:
    return Content.assemble(
        (f"{place + 1}  ", "bold $focus"),
        one_line(grid.sides[place].model, 24, "bold"),
        (note, "$undecided"),
        f"  {score_words(grid, grid.rate(place))}{REROLLED if grid.sides[place].overview.fold.rerolled else ''}",
        (f"{basis}   ", MUTED),
    )


def score_words(grid: Grid, rate: Interval | None) -> str:
    """Format a rate, or the mean of the headline score, with its interval."""
    if rate is None or not grid.headline:
        return number_format.score(rate)
    mean = number_format.number(rate.value, grid.unit)
    return f"{mean} {number_format.bounds(rate.low, rate.high, number_format.number)}".rstrip()


# The table of categories ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownRuns:
    """The runs that a category table has room for."""

    places: range
    cell: int
    """Least width of a run's column."""
    spare: int
    """Cells left for columns whose heading would be cut."""


def shown_runs(count: int, current: int, width: int) -> ShownRuns:
    """Return the runs, including the current one, that fit into `width` cells; bars are dropped before runs."""
    room = width - _NAME.width - _COUNT.width - len(GAP)
    cell = _CELL if room // max(count, 1) - len(GAP) >= _CELL else _PLAIN_CELL
    places = _window(count, current, room // (cell + len(GAP)))
    return ShownRuns(places, cell, room - len(places) * (cell + len(GAP)))


def _window(count: int, current: int, room: int) -> range:
    """Return a range of at most `room` of `count` runs that includes the current one."""
    fitting = min(max(room, 1), count)
    first = min(max(current - fitting + 1, 0), count - fitting)
    return range(first, first + fitting)


def category_columns(grid: Grid, shown: ShownRuns) -> tuple[Column, ...]:
    """Return the columns for these runs; the first and last heading show how many are hidden on that side."""
    before, after = shown.places.start, len(grid.sides) - shown.places.stop
    widths = _heading_widths(grid, shown)
    names = [_heading(place, grid.sides[place].model, width) for place, width in zip(shown.places, widths, strict=True)]
    if names and before:
        names[0] = f"+{before} {names[0]}"
    if names and after:
        room = widths[-1] - len(more := f" +{after}")
        names[-1] = f"{lines.fit_text(names[-1], room).strip()}{more}"
    unit = f" ({grid.unit})" if grid.unit else ""
    name_column = msgspec.structs.replace(_NAME, name=one_line(f"category{unit}", _NAME.width).plain)
    return (
        name_column,
        _COUNT,
        *(Column(one_line(name, width).plain, width) for name, width in zip(names, widths, strict=True)),
    )


def _heading(place: int, model: str, width: int) -> str:
    """Return the number and model of a run; where there is little room, without its provider."""
    number = f"{place + 1} "
    name = one_line(model, lines.LONGEST_ID)
    if name.cell_length > width - len(number):
        name = _without_provider(name)
    return number + lines.fit_name(name, min(name.cell_length, width - len(number))).plain


def _without_provider(model: Content) -> Content:
    return model[model.plain.rfind("/") + 1 :]


def _wanted_widths(places: range, names: Iterable[Content]) -> list[int]:
    return [min(len(f"{place + 1} ") + name.cell_length, _CELL) for place, name in zip(places, names, strict=True)]


def _heading_widths(grid: Grid, shown: ShownRuns) -> list[int]:
    """Return the widths of the runs' columns; spare cells go to headings that would be cut, one by one.

    If whole headings do not fit, those without providers are wanted.
    """
    widths = [shown.cell for _ in shown.places]
    names = [one_line(grid.sides[place].model, lines.LONGEST_ID) for place in shown.places]
    wanted = _wanted_widths(shown.places, names)
    if sum(max(width - shown.cell, 0) for width in wanted) > shown.spare:
        wanted = _wanted_widths(shown.places, map(_without_provider, names))
    for _ in range(shown.spare):
        cut = [place for place, width in enumerate(widths) if width < wanted[place]]
        if not cut:
            break
        widths[min(cut, key=widths.__getitem__)] += 1
    return widths


def category_cells(grid: Grid, category: str | None, shown: ShownRuns, current: int) -> tuple[Content, ...]:
    """Return a category's name, case count and value for each run, with the current run's in brackets."""
    rates = [grid.rate(place, category) for place in range(len(grid.sides))]
    graded = next((rate.cases for rate in rates if rate is not None), 0)
    top = max((rate.value for rate in rates if rate is not None), default=0.0) if grid.headline else 1.0
    name = Content.styled(EVERY_CATEGORY, "bold") if category is None else one_line(category or "no category", 60)
    values = (_value(grid, rates[place], top, shown.cell, is_current=place == current) for place in shown.places)
    return name, muted(number_format.count(graded)), *values


def _value(grid: Grid, rate: Interval | None, top: float, width: int, *, is_current: bool) -> Content:
    before, after = "[]" if is_current else "  "
    if rate is None:
        inside = muted("–").pad_left(4)
    else:
        number = number_format.number(rate.value) if grid.headline else number_format.rate(rate.value)
        drawn = bar(rate.value / top if top else 0.0, _BAR)
        inside = Content.assemble((f"{number:>5}", "bold" if is_current else ""), " ", (drawn, "$pass"))
        inside = inside if width == _CELL else inside[:5]
    inside = lines.fit(inside, (width if width == _CELL else _PLAIN_CELL) - 2)
    return Content.assemble((before, "bold $focus"), inside, (after, "bold $focus"))


# Why they failed -----------------------------------------------------------------------------------------------------


def reason_lines(grid: Grid, category: str | None, current: int, width: int) -> list[Content]:
    """Return the scope of the cell under the cursor, then failure reasons by run; those that differ come first."""
    rate = grid.rate(current, category)
    head = Content.assemble(
        (f"{current + 1} ", "bold $focus"),
        one_line(grid.sides[current].model, 24, "bold"),
        "  ",
        score_words(grid, rate),
        (f" of {number_format.plural(rate.cases, 'case')} graded in all" if rate else " nothing graded in all", MUTED),
    )
    reasons = grid.reasons(category)
    if not reasons:
        words = "" if grid.headline else "No run failed here."
        return [lines.fit(head, width), *([muted(words)] if words else [])]
    shown = _window(len(grid.sides), current, (width - 24) // 5)
    numbers = "".join(f"{place + 1:>5}" for place in shown)
    title = lines.fit(block_title("why it failed"), width - len(numbers))
    differing = [each for each in reasons if each.spread]
    same = [each for each in reasons if not each.spread]
    made = [lines.fit(head, width), title.append_text(numbers, f"bold {MUTED}")]
    made += [_reason_line(each, shown, current, width) for each in differing]
    if same:
        made.append(muted("as often in each run"))
        made += [_reason_line(each, shown, current, width) for each in same]
    return made


def _reason_line(reason: ReasonCounts, shown: range, current: int, width: int) -> Content:
    most = max(reason.counts)
    cells = [
        Content.styled(
            f"{reason.counts[place]:>5}",
            "bold $fail" if reason.spread and reason.counts[place] == most else "" if place == current else MUTED,
        )
        for place in shown
    ]
    room = width - 5 * len(shown)
    return Content("").join([lines.fit(one_line(f"  {reason.reason}", room), room), *cells])


# The cases -----------------------------------------------------------------------------------------------------------


def case_columns(shown: range, marks: Sequence[int], longest: int) -> tuple[Column, ...]:
    """Return the columns of the list of cases, sized for the marks of each run and the longest name."""
    columns = (Column(f" {place + 1}", marks[place]) for place in shown)
    return with_names((Column("case", 20, 3, is_name=True), *columns, WHY), longest)


def mark_widths(cases: Sequence[GridCase], runs: int) -> list[int]:
    """Return the width of the marks in each run: brackets around a sign or a number of passing repeats."""
    return [max((_mark_width(case, place) for case in cases), default=_SIGN) for place in range(runs)]


_SIGN = 3
"""Width of a sign, or of a score, as a mark."""


def _mark_width(case: GridCase, place: int) -> int:
    passed, graded = case.passed(place)
    has_number = graded and len(case.repeats) > 1 and not case.telling.scores
    return len(f"[{passed}/{graded}]") if has_number else _SIGN


def shown_marks(marks: Sequence[int], current: int, width: int) -> range:
    """Return the range of runs, including the current one, that fit into the list of cases; reasons go first."""
    return _window(len(marks), current, (width - _LEAST_NAME) // (max(marks) + len(GAP)))


_OUTPUT = 16
"""Minimum width of an answer in a cell."""


def shown_outputs(count: int, current: int, width: int) -> range:
    """Return the range of at most `count` runs, including the current one, whose answers fit side by side."""
    return _window(count, current, (width - _LEAST_NAME) // (_OUTPUT + len(GAP)))


def output_columns(grid: Grid, shown: range) -> tuple[Column, ...]:
    """Return the columns of the cases with the answers of these runs."""
    names = (one_line(f"{place + 1} {grid.sides[place].model}", 40).plain for place in shown)
    return Column("prompt", _LEAST_NAME, 1, is_name=True), *(Column(name, _OUTPUT, 2) for name in names)


def output_cells(
    case: GridCase, prompt: str, outputs: Sequence[str] | None, shown: range, current: int
) -> tuple[Content, ...]:
    """Return a case's cells: its prompt (or its id if it has none) and the start of each answer read so far."""
    cells = (_output(case, outputs[place] if outputs else None, place, is_current=place == current) for place in shown)
    return one_line(prompt or case_name(case), 300), *cells


def _output(case: GridCase, text: str | None, place: int, *, is_current: bool) -> Content:
    """Return the number of passing repeats if there are several, then the sign and start of the shown answer."""
    outcome = case.shown_in(place).outcomes[place]
    sign = muted(SYMBOLS.not_run) if outcome is None else outcome_sign(outcome)
    passed, graded = case.passed(place)
    repeats = f"{passed}/{graded} " if graded > 1 else ""
    words = muted(SYMBOLS.cut) if text is None else one_line(text, 400, "bold" if is_current else "")
    return Content.assemble(repeats, sign, " ", words)


_LEAST_NAME = 18
"""Minimum width of a case's id in the list of cases."""


def case_cells(case: GridCase, shown: range, current: int, why: str) -> tuple[Content, ...]:
    """Return the cells of a case: id or title, outcome in each run, and untrusted words on it."""
    row, has_repeats = case.telling, len(case.repeats) > 1
    draw = partial(_passed, case) if has_repeats and not row.scores else partial(_mark, row)
    marks = (draw(place, is_current=place == current) for place in shown)
    return (
        one_line(case_name(case), lines.LONGEST_ID),
        *marks,
        one_line(why, 200, MUTED),
    )


def case_name(case: GridCase) -> str:
    """Return the title of a scored case, the id of any other, or the number of a repeat. Untrusted text."""
    row = case.telling
    if case.is_repeat:
        return f"  repeat {row.slot[1] + 1}"
    return row.title if row.scores and row.title else row.slot[0] if len(case.repeats) > 1 else str(Key(*row.slot))


def _passed(case: GridCase, place: int, *, is_current: bool) -> Content:
    """Return the number of passing repeats of a case in a run, such as `3/4`, or the sign of one without a grade."""
    passed, graded = case.passed(place)
    if not graded:
        return _mark(case.shown_in(place), place, is_current=is_current)
    before, after = "[]" if is_current else "  "
    words = Content(f"{passed}/{graded}")
    return Content.assemble((before, "bold $focus"), words, (after, "bold $focus"))


def _mark(row: GridRow, place: int, *, is_current: bool) -> Content:
    outcome = row.outcomes[place]
    if row.scores and (score := row.scores[place]) is not None:
        return Content.styled(f"{score:g}"[:3].rjust(3), "bold" if is_current else "")
    before, after = "[]" if is_current else "  "
    sign = muted(SYMBOLS.not_run) if outcome is None else outcome_sign(outcome)
    if outcome is Outcome.FAILED:
        sign = sign.stylize("bold")
    return Content.assemble((before, "bold $focus"), sign, (after, "bold $focus"))


def answer_headings(grid: Grid, case: GridCase, places: Sequence[int]) -> list[Content]:
    """Return the headings above the answers of these runs, with the repeat where it is another than in the title."""
    repeats = {place: case.shown_in(place).slot[1] for place in places}
    return [
        Content.assemble(
            (f"{place + 1} ", "bold $focus"),
            (f"repeat {repeat + 1}  " if repeat != case.slot[1] else "", MUTED),
            one_line(grid.sides[place].model, 30, "bold"),
        )
        for place, repeat in repeats.items()
    ]
