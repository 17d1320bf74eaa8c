"""What was expected, what A did and what B did, argument by argument in three columns. Pure.

Both comparisons come from the suite; calls are matched by turn and place among the expected ones, arguments by name.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.core.comparison import Comparison, Mark, Pair, Row
from console.insight import number_format
from console.insight.reasons import sentence
from console.insight.rollout import Rollout
from console.tui.render import lines
from console.tui.render.diff import VALUE_LIMIT
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.compare.run_pair import Both, Half

MUTED = "$muted"
_GAP = 2
_QUIET = (Mark.SAME, Mark.OMITTED)
_PLAIN = {Mark.DIFFERS: "x", Mark.MISSING: "-", Mark.OMITTED: "."}


@dataclass(frozen=True, slots=True)
class _Widths:
    """Cells of the four columns."""

    name: int
    expected: int
    a: int
    b: int


def beside_lines(both: Both, width: int) -> list[Content]:
    """Return the lines of one case, each at most `width` cells; values that do not fit are cut."""
    widths = _widths(both, width)
    found = [_line(widths, "", *(Content.styled(it, f"bold {MUTED}") for it in ("EXPECTED", "A", "B")))]
    calls = list(_calls(both.a.comparison, both.b.comparison))
    for name, one, two in calls:
        found += _call_lines(name, one, two, widths)
    if not calls:
        found += _answers(both, widths)
    found += _facts(both, widths)
    return found


def _widths(both: Both, width: int) -> _Widths:
    names = [row.name for half in (both.a, both.b) for pair in _pairs(half.comparison) for row in pair.rows]
    longest = max([0, *(one_line(text, 60).cell_length + 2 for text in names)])
    longest = max([longest, *(one_line(text, 60).cell_length for text in both.pairing.a.scores)])
    name = min(max(10, longest), 22 if width >= 90 else 16)
    room = max(width - name - 3 * _GAP, 30)
    expected = room // 3
    a = (room - expected) // 2
    return _Widths(name, expected, a, room - expected - a)


def _line(widths: _Widths, name: str | Content, expected: Content, a: Content, b: Content) -> Content:
    label = Content.styled(name, MUTED) if isinstance(name, str) else name
    cells = [(label, widths.name), (expected, widths.expected), (a, widths.a), (b, widths.b)]
    return Content(" " * _GAP).join([lines.fit(cell, room) for cell, room in cells])


def _pairs(comparison: Comparison | None) -> Sequence[Pair]:
    return comparison.pairs if comparison else ()


# Calls ---------------------------------------------------------------------------------------------------------------


def _calls(a: Comparison | None, b: Comparison | None) -> Iterator[tuple[str, Pair | None, Pair | None]]:
    """Yield what to call it, and the calls of both sides together: turn by turn, the expected ones first."""
    turns = sorted({pair.turn for it in (a, b) for pair in _pairs(it)})
    for turn in turns:
        one, two = ([pair for pair in _pairs(it) if pair.turn == turn] for it in (a, b))
        matched = [(one[0], two[0])] if len(one) == len(two) == 1 else _matched(one, two)
        for place, (left, right) in enumerate(matched, 1):
            call = f"call {place}" if len(matched) > 1 else "call"
            yield f"turn {turn + 1}" if len(turns) > 1 and place == 1 else call, left, right


def _matched(a: Sequence[Pair], b: Sequence[Pair]) -> list[tuple[Pair | None, Pair | None]]:
    keyed_a, keyed_b = _keyed(a), _keyed(b)
    return [(keyed_a.get(key), keyed_b.get(key)) for key in sorted({*keyed_a, *keyed_b})]


def _keyed(pairs: Sequence[Pair]) -> dict[tuple[bool, int], Pair]:
    """Return calls by whether they were not expected, and their place among such."""
    counts = {True: 0, False: 0}
    found: dict[tuple[bool, int], Pair] = {}
    for pair in pairs:
        extra = not pair.expected
        counts[extra] += 1
        found[extra, counts[extra]] = pair
    return found


def _call_lines(name: str, a: Pair | None, b: Pair | None, widths: _Widths) -> Iterator[Content]:
    expected = next((pair.expected for pair in (a, b) if pair and pair.expected), "")
    yield _line(
        widths,
        Content.styled(name, "bold"),
        one_line(expected or SYMBOLS.not_run, VALUE_LIMIT, "bold"),
        _side(a.mark if a else None, a.actual if a else None, expected),
        _side(b.mark if b else None, b.actual if b else None, expected),
    )
    rows_a, rows_b = ({row.name: row for row in pair.rows} if pair else {} for pair in (a, b))
    for row in dict.fromkeys([*rows_a, *rows_b]):
        yield _row_line(row, rows_a.get(row), rows_b.get(row), widths)


def _row_line(name: str, a: Row | None, b: Row | None, widths: _Widths) -> Content:
    known = a or b
    assert known is not None
    decisive = any(row is not None and row.decisive for row in (a, b))
    if known.expected:
        wanted = Content.styled(" | ", MUTED).join([one_line(it, VALUE_LIMIT, "$expected") for it in known.expected])
        if all(row is None or row.mark in _QUIET for row in (a, b)):
            wanted = one_line(" | ".join(known.expected), VALUE_LIMIT)
    else:
        wanted = Content.styled("may be left out" if known.optional or known.mark is Mark.OMITTED else "", MUTED)
    label = Content("  ").append(one_line(name, 60, "bold" if decisive else MUTED))
    return _line(widths, label, wanted, _cell(a, known), _cell(b, known))


def _cell(row: Row | None, known: Row) -> Content:
    if row is None:
        return Content.empty()
    return _side(row.mark, row.actual, known.expected[0] if known.expected else "")


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


def _answers(both: Both, widths: _Widths) -> Iterator[Content]:
    """Without calls to compare: what was read from each answer, or what each grader said."""
    texts = [_answer(half) for half in (both.a, both.b)]
    yield _line(widths, "answer", Content.empty(), *(one_line(text, VALUE_LIMIT) for text in texts))


def _answer(half: Half) -> str:
    if half.comparison and half.comparison.raw:
        return half.comparison.raw
    output = half.conversation.output
    if isinstance(output, str):
        return output
    return half.rollout.message or half.rollout.says or ("" if output is None else str(output))


# Facts ---------------------------------------------------------------------------------------------------------------


def _facts(both: Both, widths: _Widths) -> Iterator[Content]:
    a, b = both.pairing.a, both.pairing.b
    yield Content.empty()
    yield _line(widths, "grade", Content.empty(), _grade(both.a), _grade(both.b))
    for name in [name for name in a.scores if name in b.scores][:8]:
        values = (Content(number_format.number(it.scores[name])) for it in (a, b))
        yield _line(widths, one_line(name, widths.name, MUTED), Content.empty(), *values)
    shown: list[tuple[str, Callable[[Rollout], str]]] = [
        ("latency", lambda it: number_format.duration(it.seconds)),
        (
            "tokens",
            lambda it: f"{number_format.count(it.input_tokens)} in  {number_format.count(it.output_tokens)} out",
        ),
        ("cost", lambda it: number_format.money(it.cost_usd)),
    ]
    for name, show in shown:
        yield _line(widths, name, Content.empty(), Content.styled(show(a), MUTED), Content.styled(show(b), MUTED))


def _grade(half: Half) -> Content:
    rollout = half.rollout
    if rollout.outcome is None:
        return Content.styled("not finished", MUTED)
    style = OUTCOME_STYLES[rollout.outcome]
    words = sentence(rollout.reason, rollout.subject, rollout.outcome)
    return Content.assemble((f"{SYMBOLS.of(rollout.outcome)} ", f"bold {style}"), one_line(words, 200, style))
