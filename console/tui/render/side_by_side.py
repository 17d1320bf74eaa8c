"""What was expected, what A did and what B did, argument by argument in three columns. Pure.

Both comparisons come from the suite; calls are matched by turn and place among the expected ones, arguments by name.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.core.comparison import Comparison, Mark, Pair, Row
from console.insight import number_format
from console.insight.case_in_both import CaseInBoth, CaseInRun
from console.insight.reasons import sentence
from console.insight.rollout import Rollout
from console.tui.render import lines
from console.tui.render.diff import VALUE_LIMIT
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"
_GAP = 2
_LEAST_SHARE = 10
"""Cells that a column has at least."""
_QUIET = (Mark.SAME, Mark.OMITTED)
_PLAIN = {Mark.DIFFERS: "x", Mark.MISSING: "-", Mark.OMITTED: "."}


@dataclass(frozen=True, slots=True)
class _Widths:
    """Cells of the four columns."""

    name: int
    expected: int
    a: int
    b: int


def side_by_side_lines(case: CaseInBoth, width: int) -> list[Content]:
    """Return the lines of one case, each at most `width` cells; values that do not fit are cut."""
    widths = _widths(case, width)
    headings = [Content.styled(heading, f"bold {MUTED}") for heading in ("EXPECTED", "A", "B")]
    case_lines = [_line(widths, "", *headings)]
    calls = list(_calls(case.a.comparison, case.b.comparison))
    for name, call_a, call_b in calls:
        case_lines += _call_lines(name, call_a, call_b, widths)
    if not calls:
        case_lines += _answers(case, widths)
    case_lines += _facts(case, widths)
    return case_lines


def _widths(case: CaseInBoth, width: int) -> _Widths:
    names = [row.name for side in (case.a, case.b) for pair in _pairs(side.comparison) for row in pair.rows]
    longest = max([0, *(one_line(text, 60).cell_length + 2 for text in names)])
    longest = max([longest, *(one_line(text, 60).cell_length for text in case.pair.a.scores)])
    name = min(max(10, longest), 22 if width >= 90 else 16)
    return _Widths(name, *_shares(case, max(width - name - 3 * _GAP, 30)))


def _shares(case: CaseInBoth, room: int) -> tuple[int, int, int]:
    """Return the cells of expected, A and B: a third each, but what a short column leaves goes to a longer one."""
    texts: list[list[str]] = [[], [], []]
    for place, side in enumerate((case.a, case.b), 1):
        for pair in _pairs(side.comparison):
            texts[0] += [pair.expected, *(" | ".join(row.expected) for row in pair.rows)]
            texts[place] += [pair.actual, *(row.actual or "" for row in pair.rows)]
    if not any(texts[0]):
        return room // 3, (room - room // 3) // 2, room - room // 3 - (room - room // 3) // 2
    needs = [max((one_line(text, room).cell_length for text in column), default=0) + 3 for column in texts]
    shares = [max(min(need, room // 3), _LEAST_SHARE) for need in needs]
    for place in sorted(range(3), key=lambda place: needs[place]):
        shares[place] += max(min(needs[place] - shares[place], room - sum(shares)), 0)
    shares[2] += max(room - sum(shares), 0)
    return shares[0], shares[1], shares[2]


def _line(widths: _Widths, name: str | Content, expected: Content, a: Content, b: Content) -> Content:
    label = Content.styled(name, MUTED) if isinstance(name, str) else name
    cells = [(label, widths.name), (expected, widths.expected), (a, widths.a), (b, widths.b)]
    return Content(" " * _GAP).join([lines.fit(cell, room) for cell, room in cells])


def _pairs(comparison: Comparison | None) -> Sequence[Pair]:
    return comparison.pairs if comparison else ()


# Calls ---------------------------------------------------------------------------------------------------------------


def _calls(a: Comparison | None, b: Comparison | None) -> Iterator[tuple[str, Pair | None, Pair | None]]:
    """Yield what to call it, and the calls of both sides together: turn by turn, the expected ones first.

    What is judged at the end stands together, even if one side took more turns to get there.
    """
    turns_a, turns_b = _by_turn(a), _by_turn(b)
    places = sorted({*turns_a, *turns_b})
    for place in places:
        calls_a, calls_b = turns_a.get(place, []), turns_b.get(place, [])
        matched = [(calls_a[0], calls_b[0])] if len(calls_a) == len(calls_b) == 1 else _matched(calls_a, calls_b)
        names = _names([pair.kind for left, right in matched if (pair := left or right) is not None])
        if len(places) > 1:
            is_end, number = place
            names[0] = "at the end" if is_end else f"turn {number + 1}"
        yield from ((name, left, right) for name, (left, right) in zip(names, matched, strict=True))


def _by_turn(side: Comparison | None) -> dict[tuple[bool, int], list[Pair]]:
    """Return the pairs of one side by place: a turn, or the end after all turns."""
    by_turn: dict[tuple[bool, int], list[Pair]] = {}
    for pair in _pairs(side):
        is_end = side is not None and side.is_end(pair.turn)
        by_turn.setdefault((True, 0) if is_end else (False, pair.turn), []).append(pair)
    return by_turn


_KIND_WORDS = {"check": "check", "judge": "grade", "answer": "answer"}
"""What to call a pair that is no call."""


def _names(kinds: Sequence[str]) -> list[str]:
    """Return what to call pairs, numbered where there are several of a kind: `call 1`, `call 2`, `check`."""
    words = [_KIND_WORDS.get(kind, "call") for kind in kinds]
    return [
        f"{word} {words[: place + 1].count(word)}" if words.count(word) > 1 else word
        for place, word in enumerate(words)
    ]


def _matched(a: Sequence[Pair], b: Sequence[Pair]) -> list[tuple[Pair | None, Pair | None]]:
    keyed_a, keyed_b = _keyed(a), _keyed(b)
    return [(keyed_a.get(key), keyed_b.get(key)) for key in sorted({*keyed_a, *keyed_b})]


def _keyed(pairs: Sequence[Pair]) -> dict[tuple[bool, int], Pair]:
    """Return calls by whether they were not expected, and their place among such."""
    counts = {True: 0, False: 0}
    keyed: dict[tuple[bool, int], Pair] = {}
    for pair in pairs:
        extra = not pair.expected
        counts[extra] += 1
        keyed[extra, counts[extra]] = pair
    return keyed


def _call_lines(name: str, a: Pair | None, b: Pair | None, widths: _Widths) -> Iterator[Content]:
    expected = next((pair.expected for pair in (a, b) if pair and pair.expected), "")
    yield _line(
        widths,
        Content.styled(name, "bold"),
        one_line(expected or SYMBOLS.not_run, VALUE_LIMIT, "bold"),
        _side(a.name_mark if a else None, a.actual if a else None, expected),
        _side(b.name_mark if b else None, b.actual if b else None, expected),
    )
    rows_a, rows_b = ({row.name: row for row in pair.rows} if pair else {} for pair in (a, b))
    for row in dict.fromkeys([*rows_a, *rows_b]):
        yield _row_line(row, rows_a.get(row), rows_b.get(row), widths)


def _row_line(name: str, a: Row | None, b: Row | None, widths: _Widths) -> Content:
    row = a or b
    assert row is not None
    decisive = any(side is not None and side.decisive for side in (a, b))
    if row.expected:
        values = [one_line(value, VALUE_LIMIT, "$expected") for value in row.expected]
        expected = Content.styled(" | ", MUTED).join(values)
        if all(side is None or side.mark in _QUIET for side in (a, b)):
            expected = one_line(" | ".join(row.expected), VALUE_LIMIT)
    else:
        expected = Content.styled("may be left out" if row.optional or row.mark is Mark.OMITTED else "", MUTED)
    label = Content("  ").append(one_line(name, 60, "bold" if decisive else MUTED))
    first_expected = row.expected[0] if row.expected else ""
    return _line(widths, label, expected, _cell(a, first_expected), _cell(b, first_expected))


def _cell(row: Row | None, expected: str) -> Content:
    return Content.empty() if row is None else _side(row.mark, row.actual, expected)


def _side(mark: Mark | None, actual: str | None, expected: str) -> Content:
    """Return one side's mark and value; a value that is literally the expected one is not repeated."""
    if mark is None:
        return Content.empty()
    sign = mark.value if SYMBOLS.rule == "─" else _PLAIN.get(mark, mark.value)
    quiet = mark in _QUIET
    shown = Content.styled(f"{sign} ", MUTED if quiet else "bold $fail")
    if actual is None or (mark is Mark.SAME and actual == expected) or mark is Mark.OMITTED:
        return shown
    return shown.append(one_line(actual, VALUE_LIMIT, "" if quiet else "$actual"))


def _answers(case: CaseInBoth, widths: _Widths) -> Iterator[Content]:
    """Without calls to compare: what was read from each answer, or what each grader said."""
    texts = [_answer(side) for side in (case.a, case.b)]
    yield _line(widths, "answer", Content.empty(), *(one_line(text, VALUE_LIMIT) for text in texts))


def _answer(side: CaseInRun) -> str:
    if side.comparison and side.comparison.raw:
        return side.comparison.raw
    output = side.conversation.output
    if isinstance(output, str):
        return output
    return side.rollout.message or side.rollout.says or ("" if output is None else str(output))


# Facts ---------------------------------------------------------------------------------------------------------------


def _facts(case: CaseInBoth, widths: _Widths) -> Iterator[Content]:
    a, b = case.pair.a, case.pair.b
    yield Content.empty()
    yield _line(widths, "grade", Content.empty(), _grade(case.a), _grade(case.b))
    for name in [name for name in a.scores if name in b.scores][:8]:
        values = (Content(number_format.number(rollout.scores[name])) for rollout in (a, b))
        yield _line(widths, one_line(name, widths.name, MUTED), Content.empty(), *values)
    shown: list[tuple[str, Callable[[Rollout], str]]] = [
        ("latency", lambda rollout: number_format.duration(rollout.seconds)),
        ("tokens", _tokens),
        ("cost", lambda rollout: number_format.money(rollout.cost_usd)),
    ]
    for name, show in shown:
        yield _line(widths, name, Content.empty(), Content.styled(show(a), MUTED), Content.styled(show(b), MUTED))


def _tokens(rollout: Rollout) -> str:
    return f"{number_format.count(rollout.input_tokens)} in  {number_format.count(rollout.output_tokens)} out"


def _grade(side: CaseInRun) -> Content:
    rollout = side.rollout
    if rollout.outcome is None:
        return Content.styled("not finished", MUTED)
    style = OUTCOME_STYLES[rollout.outcome]
    words = sentence(rollout.reason, rollout.subject, rollout.outcome)
    return Content.assemble((f"{SYMBOLS.of(rollout.outcome)} ", f"bold {style}"), one_line(words, 200, style))
