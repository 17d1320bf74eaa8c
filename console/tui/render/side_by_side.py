"""One case in several runs: expected and actual calls, argument by argument, with a column per run.

The comparisons come from the suite; calls and other items are matched by turn and index among the expected ones of
their kind, arguments by name.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from textual.content import Content

from console.core.comparison import Comparison, Mark, Pair, Row
from console.insight import number_format
from console.insight.case_in_run import CaseInRun
from console.insight.reasons import sentence
from console.insight.value_diff import structured_together
from console.tui.render import lines
from console.tui.render.diff import VALUE_LIMIT, first_lines
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, block_title, muted

_GAP = 2
_LEAST_SHARE = 10
"""Minimum width of a column, in cells."""
_LEAST_COLUMN = 14
"""Minimum average width of columns; runs that would reduce it go into another table."""
_QUIET = (Mark.SAME, Mark.OMITTED)


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """The case in one run, and the heading of its column."""

    heading: Content
    side: CaseInRun


@dataclass(frozen=True, slots=True)
class _Widths:
    """Column widths in cells."""

    name: int
    expected: int
    sides: tuple[int, ...]


def side_by_side_lines(answered: Sequence[AnsweredCase], width: int) -> list[Content]:
    """Return the lines of one case in several runs, each at most `width` cells; long values are wrapped to three lines.

    Runs that do not fit follow in further tables.
    """
    answered = _structured(answered)
    room = max((width - _name_width([each.side for each in answered], width)) // (_LEAST_COLUMN + _GAP) - 1, 2)
    case_lines: list[Content] = []
    for first in range(0, len(answered), room):
        case_lines += [Content.empty()] * bool(case_lines)
        case_lines += _table(answered[first : first + room], width)
    return case_lines


def _structured(answered: Sequence[AnsweredCase]) -> list[AnsweredCase]:
    """Replace big values with the paths in which any run differs, the same ones for all runs."""
    replaced: dict[int, Pair | None] = {}
    for _, pairs in _calls([each.side.comparison for each in answered]):
        replaced |= {id(pair): other for pair, other in zip(pairs, structured_together(pairs), strict=True)}
    made: list[AnsweredCase] = []
    for each in answered:
        pairs = tuple(replaced.get(id(pair)) or pair for pair in _pairs(each.side.comparison))
        comparison = each.side.comparison and msgspec.structs.replace(each.side.comparison, pairs=pairs)
        made.append(AnsweredCase(each.heading, dataclasses.replace(each.side, comparison=comparison)))
    return made


def _table(answered: Sequence[AnsweredCase], width: int) -> list[Content]:
    sides = [each.side for each in answered]
    widths = _widths(sides, width)
    headings = [block_title("EXPECTED"), *(each.heading for each in answered)]
    case_lines = list(_line(widths, "", *headings))
    calls = list(_calls([side.comparison for side in sides]))
    for name, pairs in calls:
        case_lines += _call_lines(name, pairs, widths)
    if not all(_has_calls(side) for side in sides):
        case_lines += _answers(sides, widths)
    case_lines += _facts(sides, widths)
    return case_lines


def _name_width(sides: Sequence[CaseInRun], width: int) -> int:
    names = [row.name for side in sides for pair in _pairs(side.comparison) for row in pair.rows]
    longest = max([0, *(one_line(text, 60).cell_length + 2 for text in names)])
    longest = max([longest, *(one_line(text, 60).cell_length for text in sides[0].rollout.scores)])
    return min(max(10, longest), max(16, width // 4))


def _widths(sides: Sequence[CaseInRun], width: int) -> _Widths:
    name = _name_width(sides, width)
    expected, *others = _shares(sides, max(width - name - (len(sides) + 1) * _GAP, 30))
    return _Widths(name, expected, tuple(others))


def _shares(sides: Sequence[CaseInRun], room: int) -> list[int]:
    """Return the widths of the expected column and each run's: equal shares, with unused room given to longer ones."""
    count = len(sides) + 1
    texts: list[list[str]] = [[] for _ in range(count)]
    for place, side in enumerate(sides, 1):
        for pair in _pairs(side.comparison):
            texts[0] += [pair.expected, *(" | ".join(row.expected) for row in pair.rows)]
            texts[place] += [pair.actual, *(row.actual or "" for row in pair.rows)]
        texts[place] += [_answer(side)] * (not _has_calls(side))
        texts[place] += [_grade(side).plain, _tokens(side)]
    if not any(texts[0]):
        return [room // count, *_even(room - room // count, len(sides))]
    needs = [max((one_line(text, room).cell_length for text in column), default=0) + 3 for column in texts]
    shares = [max(min(need, room // count), _LEAST_SHARE) for need in needs]
    for place in sorted(range(count), key=lambda place: needs[place]):
        shares[place] += max(min(needs[place] - shares[place], room - sum(shares)), 0)
    shares[-1] += max(room - sum(shares), 0)
    return shares


def _even(room: int, count: int) -> list[int]:
    return [room * (place + 1) // count - room * place // count for place in range(count)]


def _line(widths: _Widths, name: str | Content, expected: Content, *sides: Content) -> Iterator[Content]:
    """Yield the lines of one row, in which long values are wrapped and cut."""
    label = muted(name) if isinstance(name, str) else name
    rooms = (widths.expected, *widths.sides)
    cells = [first_lines(cell, room, False, hang=2) for cell, room in zip((expected, *sides), rooms, strict=True)]
    for place in range(max(map(len, cells))):
        values = (
            lines.fit(cell[place] if place < len(cell) else Content.empty(), room)
            for cell, room in zip(cells, rooms, strict=True)
        )
        shown = lines.fit_name(Content.empty() if place else label, widths.name)
        yield Content(" " * _GAP).join([shown, *values])


def _pairs(comparison: Comparison | None) -> Sequence[Pair]:
    return comparison.pairs if comparison else ()


# Calls ---------------------------------------------------------------------------------------------------------------


def _calls(sides: Sequence[Comparison | None]) -> Iterator[tuple[str, Sequence[Pair | None]]]:
    """Yield a label and the matching calls of all sides, turn by turn, expected ones first.

    Checks at the end are matched with each other, even if the number of turns differs.
    """
    turns = [_by_turn(side) for side in sides]
    places = sorted({place for by_turn in turns for place in by_turn})
    for place in places:
        calls = [by_turn.get(place, []) for by_turn in turns]
        matched = [[first for (first,) in calls]] if all(len(each) == 1 for each in calls) else _matched(calls)
        names = _names([next(pair.kind for pair in together if pair is not None) for together in matched])
        if len(places) > 1:
            is_end, number = place
            names[0] = "at the end" if is_end else f"turn {number + 1}"
        yield from zip(names, matched, strict=True)


def _by_turn(side: Comparison | None) -> dict[tuple[bool, int], list[Pair]]:
    """Group the pairs of one side by (is at the end, turn)."""
    by_turn: dict[tuple[bool, int], list[Pair]] = {}
    for pair in _pairs(side):
        is_end = side is not None and side.is_end(pair.turn)
        by_turn.setdefault((True, 0) if is_end else (False, pair.turn), []).append(pair)
    return by_turn


_KIND_WORDS = {"check": "check", "judge": "grade", "answer": "answer", "state": "state", "blame": "blame"}
"""Labels of pairs other than calls, by kind."""


def _names(kinds: Sequence[str]) -> list[str]:
    """Return labels of pairs, numbered if there are several of a kind: `call 1`, `call 2`, `check`."""
    words = [_KIND_WORDS.get(kind, "call") for kind in kinds]
    return [
        f"{word} {words[: place + 1].count(word)}" if words.count(word) > 1 else word
        for place, word in enumerate(words)
    ]


def _matched(sides: Sequence[Sequence[Pair]]) -> list[list[Pair | None]]:
    """Return items of a kind that have the same number on each side, expected ones first, in the order of the sides."""
    keyed = [_keyed(pairs) for pairs in sides]
    keys = dict.fromkeys(key for side in keyed for key in side)
    return [[side.get(key) for side in keyed] for key in sorted(keys, key=lambda key: key[0])]


def _keyed(pairs: Sequence[Pair]) -> dict[tuple[bool, str, int], Pair]:
    """Return items by (is unexpected, kind, number among those)."""
    counts = Counter[tuple[bool, str]]()
    keyed: dict[tuple[bool, str, int], Pair] = {}
    for pair in pairs:
        group = (not pair.expected, pair.kind)
        counts[group] += 1
        keyed[*group, counts[group]] = pair
    return keyed


def _call_lines(name: str, pairs: Sequence[Pair | None], widths: _Widths) -> Iterator[Content]:
    expected = next((pair.expected for pair in pairs if pair and pair.expected), "")
    yield from _line(
        widths,
        Content.styled(name, "bold"),
        one_line(expected or SYMBOLS.not_run, VALUE_LIMIT, "bold"),
        *(_side(pair.name_mark if pair else None, pair.actual if pair else None, expected) for pair in pairs),
    )
    rows = [{row.name: row for row in pair.rows} if pair else {} for pair in pairs]
    for row in dict.fromkeys(row for side in rows for row in side):
        yield from _row_line(row, [side.get(row) for side in rows], widths)


def _row_line(name: str, rows: Sequence[Row | None], widths: _Widths) -> Iterator[Content]:
    row = next(row for row in rows if row is not None)
    decisive = any(side is not None and side.decisive for side in rows)
    if row.expected:
        expected = muted(" | ").join(one_line(value, VALUE_LIMIT, "$expected") for value in row.expected)
        if all(side is None or side.mark in _QUIET for side in rows):
            expected = one_line(" | ".join(row.expected), VALUE_LIMIT)
    else:
        expected = muted("may be left out" if row.optional or row.mark is Mark.OMITTED else "")
    label = Content("  ").append(one_line(name, 60, "bold" if decisive else MUTED))
    first_expected = row.expected[0] if row.expected else ""
    values = (_side(side.mark if side else None, side.actual if side else None, first_expected) for side in rows)
    return _line(widths, label, expected, *values)


def _side(mark: Mark | None, actual: str | None, expected: str) -> Content:
    """Return one side's mark and value, without the value if it is identical to the expected one."""
    if mark is None:
        return Content.empty()
    quiet = mark in _QUIET
    shown = Content.styled(f"{mark.value} ", MUTED if quiet else "bold $fail")
    if actual is None or (mark is Mark.SAME and actual == expected) or mark is Mark.OMITTED:
        return shown
    return shown.append(one_line(actual, VALUE_LIMIT, "" if quiet else "$actual"))


def _answers(sides: Sequence[CaseInRun], widths: _Widths) -> Iterator[Content]:
    """Yield the line of answers, for sides without calls."""
    texts = ("" if _has_calls(side) else _answer(side) for side in sides)
    yield from _line(widths, "answer", Content.empty(), *(one_line(text, VALUE_LIMIT) for text in texts))


def _has_calls(side: CaseInRun) -> bool:
    return any(pair.actual for pair in _pairs(side.comparison))


def _answer(side: CaseInRun) -> str:
    if side.comparison and side.comparison.raw:
        return side.comparison.raw
    output = side.conversation.output
    if isinstance(output, str):
        return output
    return side.rollout.message or side.rollout.recent_text or ("" if output is None else str(output))


# Facts ---------------------------------------------------------------------------------------------------------------


def _facts(sides: Sequence[CaseInRun], widths: _Widths) -> Iterator[Content]:
    rollouts = [side.rollout for side in sides]
    yield Content.empty()
    yield from _line(widths, "grade", Content.empty(), *(_grade(side) for side in sides))
    for name in [name for name in rollouts[0].scores if all(name in rollout.scores for rollout in rollouts)][:8]:
        values = (Content(number_format.number(rollout.scores[name])) for rollout in rollouts)
        yield from _line(widths, one_line(name, widths.name, MUTED), Content.empty(), *values)
    shown: list[tuple[str, Callable[[CaseInRun], str]]] = [
        ("latency", lambda side: number_format.duration(side.rollout.seconds)),
        ("tokens", _tokens),
        ("cost", lambda side: number_format.cost_of(side.rollout.cost_usd, side.simulated_note)),
    ]
    for name, show in shown:
        yield from _line(widths, name, Content.empty(), *(muted(show(side)) for side in sides))


def _tokens(side: CaseInRun) -> str:
    tokens_in, tokens_out = side.rollout.input_tokens, side.rollout.output_tokens
    return f"{number_format.count(tokens_in)} in  {number_format.count(tokens_out)} out"


def _grade(side: CaseInRun) -> Content:
    rollout = side.rollout
    if rollout.outcome is None:
        return muted("not finished")
    style = OUTCOME_STYLES[rollout.outcome]
    words = sentence(rollout.reason, rollout.subject, rollout.outcome)
    return Content.assemble((f"{SYMBOLS.of(rollout.outcome)} ", f"bold {style}"), one_line(words, 200, style))
