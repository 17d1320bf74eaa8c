"""Diff of expected and actual, argument by argument: side by side, stacked, or as changed lines.

The comparison comes from the suite, since only its grader knows which values are equal. This module only locates the
first difference of two long strings, to keep it visible and underline it.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content

from console.core.comparison import Comparison, Mark, Pair, Row
from console.insight import number_format
from console.insight.value_diff import equal_paths, structured
from console.insight.word_diff import AROUND, Part, differing_passages
from console.tui.render import lines
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted

LEAST_SIDES = 66
"""Minimum width in cells of the side-by-side layout: that of the text in a pane of 70 cells."""
NAME_LIMIT = 22
PATH_LIMIT = 400
LONG_STRIP = 10
"""Number of turns above which the turn strip is condensed."""
VALUE_LIMIT = 4000
_LEAST_LONG = 60
"""Number of characters above which only the surroundings of differences are shown."""
_MOST_COMPARED = 100_000
ALONE_LINES = 3
"""Maximum number of lines, before wrapping, of a value shown on one side only."""
_STYLES = {
    Mark.SAME: MUTED,
    Mark.DIFFERS: "$fail",
    Mark.MISSING: "$fail",
    Mark.EXTRA: "$fail",
    Mark.WRONG_TYPE: "$fail",
    Mark.OMITTED: MUTED,
}
_LONE = (Mark.MISSING, Mark.EXTRA)
"""Marks for items that exist on only one side."""
LEGEND = "= same   ≠ differs   − missing   + extra   ~ wrong type   · may be left out   a | b any of"


class Layout(StrEnum):
    """Layout of a diff."""

    SIDES = "side by side"
    STACKED = "stacked"
    CHANGES = "changed lines"


class Equal(StrEnum):
    """Amount of equal content shown."""

    USUAL = "usual"
    """Also show equal arguments, but not the equal paths of big values."""
    SHOWN = "shown"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Style:
    """Display options of a diff."""

    layout: Layout = Layout.SIDES
    wrap: bool = False
    equal: Equal = Equal.USUAL


def fitting(layout: Layout, width: int) -> Layout:
    """Return the layout, with stacked instead of side by side if the width is too small."""
    return Layout.STACKED if layout is Layout.SIDES and width < LEAST_SIDES else layout


def pair_lines(pairs: Sequence[Pair], width: int, style: Style) -> list[Content]:
    """Return the lines of pairs, each at most `width` cells."""
    draw = {Layout.SIDES: _Sides, Layout.STACKED: _Stacked, Layout.CHANGES: _Changes}
    made = draw[fitting(style.layout, width)](width, style)
    drawn: list[Content] = []
    for pair in pairs:
        if pair.kind == "blame":
            drawn += _across(pair, _sign_text(pair), width, style)
            continue
        paths = structured(pair, with_equal=style.equal is Equal.SHOWN)
        drawn += made.pair(paths.pair)
        drawn += _equal_line(paths.equal, style)
    return drawn


def hides_equal(pairs: Sequence[Pair], style: Style) -> bool:
    """Return whether equal parts of pairs are omitted."""
    if style.equal is Equal.HIDDEN:
        return any(map(_is_quiet, (row for pair in pairs for row in pair.rows)))
    return style.equal is Equal.USUAL and any(structured(pair).equal for pair in pairs)


def heading(width: int, style: Style) -> list[Content]:
    """Return the line with the names of the two sides; empty in layouts other than side by side."""
    if fitting(style.layout, width) is not Layout.SIDES:
        return []
    left, right = _side_widths(width)
    style_of = f"bold {MUTED}"
    expected, actual = lines.fit_text("EXPECTED", left), lines.fit_text("ACTUAL", right)
    return [Content.assemble("   ", (expected, style_of), " ", ("│", "$line"), " ", (actual, style_of))]


def turns_of(comparison: Comparison) -> list[tuple[int, list[Pair]]]:
    """Group the pairs by turn, in order."""
    turns: dict[int, list[Pair]] = {}
    for pair in comparison.pairs:
        turns.setdefault(pair.turn, []).append(pair)
    return list(turns.items())


def turn_marks(comparison: Comparison) -> dict[int, Mark]:
    """Return a mark for every turn: the grader's if it judges turns, else the first failing mark of its pairs."""
    if comparison.turns:
        return dict(enumerate(comparison.turns))
    return {number: _worst_mark(pairs) for number, pairs in turns_of(comparison)}


def turn_strip(comparison: Comparison) -> Content:
    """Return one line with a symbol for every turn; empty if there is only one."""
    marks = turn_marks(comparison)
    if len(marks) < 2:
        return Content.empty()
    gap = "   " if len(marks) <= LONG_STRIP else " "
    names = {number: comparison.turn_name(number).removeprefix("turn ") for number in marks}
    parts = [Content.assemble(f"{names[number]} ", turn_sign(mark)) for number, mark in marks.items()]
    last = muted(f"{gap}{SYMBOLS.not_run} not judged" if Mark.OMITTED in marks.values() else "")
    return Content.assemble(("turn  ", MUTED), Content(gap).join(parts), last, ("     < > moves", MUTED))


def turn_sign(mark: Mark) -> Content:
    """Return the styled symbol of a turn."""
    if mark is Mark.OMITTED:
        return muted(SYMBOLS.not_run)
    return Content.styled(SYMBOLS.passed, "$pass") if mark is Mark.SAME else Content.styled(SYMBOLS.failed, "$fail")


def _worst_mark(pairs: Iterable[Pair]) -> Mark:
    return next((pair.mark for pair in pairs if pair.mark not in (Mark.SAME, Mark.OMITTED)), Mark.SAME)


class _Sides:
    def __init__(self, width: int, style: Style) -> None:
        self.left, self.right = _side_widths(width)
        self.width, self.style = width, style

    def pair(self, pair: Pair) -> Iterator[Content]:
        expected, actual = _pair_texts(pair, min(self.left, self.right), self.style)
        if pair.expected == pair.actual and expected.cell_length > self.left:
            yield from _across(pair, expected, self.width, self.style)
        elif pair.mark in _LONE and max(expected.cell_length - self.left, actual.cell_length - self.right) > 0:
            yield from _across(pair, expected if pair.expected else actual, self.width, self.style)
        else:
            parts = _call_lines(expected, self.left, self.style, 2), _call_lines(actual, self.right, self.style, 2)
            yield from self._line(pair.name_mark, *parts)
        yield from self._note(pair.note, 1)
        names = _name_width(pair.rows, min(NAME_LIMIT, self.left // 2))
        for row in _unfolded(pair.rows, self.style):
            yield from self._row(row, names)
        yield from _folded_line(pair.rows, self.style)

    def _row(self, row: Row, names: int) -> Iterator[Content]:
        name = one_line(row.name, PATH_LIMIT, "bold" if row.decisive else MUTED)
        head: Content | None = None
        if name.cell_length > names:  # a long path gets lines of its own, and its values the room below it
            head = sign(row.mark, row.decisive)
            for part in _cut(name, self.width - 5, 0, True):
                yield head.append("  ").append(part)
                head = Content("   ")
            name, names = Content(""), 2
        label = lines.fit(name, names)
        room_left, room_right = self.left - names - 4, self.right - names - 4
        expected, actual = _values(row, room_left, room_right, self.style)
        if row.mark in _LONE and max(expected.cell_length - room_left, actual.cell_length - room_right) > 0:
            value = expected if row.actual is None else actual
            yield from self._alone(Content("   ") if head else sign(row.mark, row.decisive), label, value)
            yield from self._note(row.note, names + 4)
            return
        again = label if row.actual is not None else Content(" " * names)
        columns = self._column(label, expected, room_left), self._column(again, actual, room_right)
        yield from self._line(None if head else row.mark, *columns, decisive=row.decisive)
        yield from self._note(row.note, names + 4)

    def _note(self, note: str, indent: int) -> Iterator[Content]:
        """Draw a note on the left side, or across both if it is too long for one line there."""
        words = Content(" " * indent).append(one_line(note, 400, f"italic {MUTED}"))
        if note and words.cell_length <= self.left:
            yield from self._line(None, [words], [])
        else:
            yield from _notes(note, indent + 3, self.width)

    def _alone(self, head: Content, label: Content, value: Content) -> Iterator[Content]:
        """Draw a value that only one side has across the whole width; its mark identifies the side."""
        for place, part in enumerate(first_lines(value, self.width - label.cell_length - 7, self.style.wrap)):
            yield Content("  ").join([head, label, part])
            if not place:
                head, label = Content("   "), Content(" " * label.cell_length)

    def _column(self, label: Content, value: Content, room: int) -> list[Content]:
        """Return the lines of an argument on one side: its name, and the value wrapped next to it."""
        blank = Content(" " * label.cell_length)
        parts = first_lines(value, room, self.style.wrap)
        return [Content("  ").join([Content(""), blank if place else label, part]) for place, part in enumerate(parts)]

    def _line(
        self, mark: Mark | None, lefts: Sequence[Content], rights: Sequence[Content], *, decisive: bool = False
    ) -> Iterator[Content]:
        for place in range(max(len(lefts), len(rights))):
            expected = lefts[place] if place < len(lefts) else Content("")
            actual = rights[place] if place < len(rights) else Content("")
            yield Content.assemble(
                sign(mark, decisive) if mark and not place else "   ",
                lines.fit(expected, self.left), " ", ("│", "$line"), " ", actual,
            )  # fmt: skip


class _Stacked:
    """The stacked layout: expected above actual, for narrow panes."""

    def __init__(self, width: int, style: Style) -> None:
        self.width, self.style = width, style

    def pair(self, pair: Pair) -> Iterator[Content]:
        name = pair.expected if pair.expected == pair.actual else ""
        if name:
            yield from _across(pair, one_line(name, VALUE_LIMIT, "bold"), self.width, self.style)
        else:
            texts = _pair_texts(pair, self.width - 13, self.style)
            for word, shown in zip(("expected", "actual"), texts, strict=True):
                yield from self._labeled_lines(pair.mark, word, _call_lines(shown, self.width - 13, self.style, 2), 10)
        yield from _notes(pair.note, 4, self.width)
        for row in _unfolded(pair.rows, self.style):
            yield from self._row(row)
        yield from _folded_line(pair.rows, self.style)

    def _row(self, row: Row) -> Iterator[Content]:
        room = self.width - 17
        expected, actual = _values(row, room, room, self.style)
        yield (
            sign(row.mark, row.decisive)
            .append("  ")
            .append(one_line(row.name, self.width - 6, "bold" if row.decisive else MUTED))
        )
        values = [("both", actual)] if row.mark is Mark.SAME else [("expected", expected), ("actual", actual)]
        for word, value in values:
            yield from self._labeled_lines(None, word, first_lines(value, self.width - 15, self.style.wrap), 12)
        yield from _notes(row.note, 7, self.width)

    def _labeled_lines(self, mark: Mark | None, word: str, value: Sequence[Content], indent: int) -> Iterator[Content]:
        head = sign(mark, False) if mark else Content("   ")
        pad = " " * max(indent - 10, 0)
        for place, line in enumerate(value):
            label = lines.fit_text(word if not place else "", 10)
            yield Content.assemble(head if not place else "   ", pad, (label, MUTED), line)


class _Changes:
    """The changed-lines layout: calls with one argument per line, as a line diff."""

    def __init__(self, width: int, style: Style) -> None:
        self.width, self.style = width, style

    def pair(self, pair: Pair) -> Iterator[Content]:
        expected = [pair.expected, *(_written(row.name, _expected(row)) for row in pair.rows if row.expected)]
        actual = [pair.actual, *(_written(row.name, row.actual) for row in pair.rows if row.actual is not None)]
        for change, first, last, start, end in difflib.SequenceMatcher(None, expected, actual, False).get_opcodes():
            if change == "equal":
                yield from self._marked("  ", expected[first:last], MUTED)
                continue
            yield from self._marked("− ", expected[first:last], "$expected")
            yield from self._marked("+ ", actual[start:end], "$actual")
        yield from _notes(pair.note, 2, self.width)

    def _marked(self, mark: str, texts: Sequence[str], style: str) -> Iterator[Content]:
        for text in texts:
            yield from _cut(one_line(f"{mark}{text}", VALUE_LIMIT, style), self.width, 4, self.style.wrap)


def _expected(row: Row) -> str:
    return row.actual if row.mark is Mark.SAME and row.actual is not None else " | ".join(row.expected)


def _written(name: str, value: str) -> str:
    return f"  {name} = {value[:VALUE_LIMIT]}"


def sign(mark: Mark, decisive: bool) -> Content:
    """Return the three cells before a row: a bar if the row decided the verdict, the mark, and a blank."""
    style = _STYLES[mark]
    return Content.assemble(
        (">" if decisive and SYMBOLS.is_ascii else "▌" if decisive else " ", style), (mark.value, f"bold {style}"), " "
    )


def _side_widths(width: int) -> tuple[int, int]:
    room = width - 6
    return room // 2, room - room // 2


def _name_width(rows: Sequence[Row], most: int) -> int:
    """Return the width of the names that stand next to their values; longer ones stand above them."""
    lengths = (one_line(row.name, 60).cell_length for row in rows)
    return max((length for length in lengths if length <= most), default=0)


def _unfolded(rows: Sequence[Row], style: Style) -> list[Row]:
    return [row for row in rows if style.equal is not Equal.HIDDEN or not _is_quiet(row)]


def _is_quiet(row: Row) -> bool:
    return row.mark in (Mark.SAME, Mark.OMITTED) and not row.decisive


def _folded_line(rows: Sequence[Row], style: Style) -> Iterator[Content]:
    count = sum(map(_is_quiet, rows)) if style.equal is Equal.HIDDEN else 0
    if count:
        yield muted(f" {Mark.SAME.value}   {count} equal (x)")


def _equal_line(count: int, style: Style) -> list[Content]:
    if not count:
        return []
    return [muted(f" {Mark.SAME.value}   {equal_paths(count)}{' (x)' * (style.equal is not Equal.SHOWN)}")]


def _notes(note: str, indent: int, width: int) -> Iterator[Content]:
    if note:
        room = max(width - indent, 20)
        for part in _cut(one_line(note, 400, f"italic {MUTED}"), room, 0, True):
            yield Content(" " * max(min(indent, width - 20), 0)).append(part)


def _values(row: Row, left: int, right: int, style: Style) -> tuple[Content, Content]:
    """Return both values of a row, with the start cut off if the first difference would be out of view."""
    nearest = _nearest(row)
    differs = row.mark in (Mark.DIFFERS, Mark.WRONG_TYPE)
    if differs and row.actual is not None and (passages := _passages(nearest, row.actual, min(left, right), style)):
        return _joined(row, nearest, 0, passages[0]), passages[1]
    start = _first_difference(nearest, row.actual) if differs else 0
    visible = max(min(left, right), 8) * (ALONE_LINES - 1)
    skip = start - 10 if not style.wrap and start > visible else 0
    expected = _joined(row, nearest, skip)
    if row.actual is None:
        return expected, muted("—")
    actual = one_line(row.actual, VALUE_LIMIT, "" if _is_quiet(row) else "$actual")
    if 0 < start < len(actual) and row.mark is Mark.DIFFERS:
        actual = actual.stylize("underline", start)
    return expected, _skipping(actual, skip)


def _pair_texts(pair: Pair, width: int, style: Style) -> tuple[Content, Content]:
    if pair.mark is Mark.DIFFERS and (passages := _passages(pair.expected, pair.actual, width, style)):
        return passages
    expected, actual = (one_line(text or "—", VALUE_LIMIT, "bold") for text in (pair.expected, pair.actual))
    return expected, actual


def _passages(expected: str, actual: str, width: int, style: Style) -> tuple[Content, Content] | None:
    """Return two long texts around the words that differ; None if short, wrapped, or with no words in common."""
    if (
        style.wrap
        or min(len(expected), len(actual)) <= max(width, _LEAST_LONG)
        or max(len(expected), len(actual)) > _MOST_COMPARED
    ):
        return None
    words = differing_passages(expected, actual, around=AROUND if width > _LEAST_LONG else AROUND // 2)
    if 2 * words.same < words.words:
        return None
    return _marked_words(words.left, "$expected"), _marked_words(words.right, "$actual")


def _marked_words(parts: Sequence[Part], style: str) -> Content:
    """Return the parts of a text, with differences underlined and a note in place of omitted words."""
    shown: list[Content] = []
    for place, part in enumerate(parts):
        if part.omitted:
            where = " before" if not place else " after" if place == len(parts) - 1 else ""
            count = number_format.plural(part.omitted, "character")
            shown.append(muted(f"{' ' * bool(place)}{SYMBOLS.cut} {count} equal{where} {SYMBOLS.cut}"))
        else:
            text = one_line(part.text, VALUE_LIMIT, style)
            shown.append(text.stylize("bold underline") if part.differs else text)
    return Content("").join(shown)


def _joined(row: Row, nearest: str, skip: int, passages: Content | None = None) -> Content:
    if not row.expected:
        return muted("" if not row.optional else "(may be left out)")
    style = "" if _is_quiet(row) else "$expected"
    shown = [
        passages
        if passages is not None and text == nearest
        else _skipping(one_line(text, VALUE_LIMIT, style), skip if text == nearest else 0)
        for text in row.expected
    ]
    joined = muted(" | ").join(shown)
    return joined.append_text("  (may be left out)", MUTED) if row.optional else joined


def _skipping(text: Content, skip: int) -> Content:
    return muted(SYMBOLS.cut).append(text[skip:]) if skip > 0 and len(text) > skip else text


def _nearest(row: Row) -> str:
    """Return the expected alternative with the longest common prefix with the actual value."""
    return max(row.expected, key=lambda text: _first_difference(text, row.actual), default="")


def _first_difference(left: str, right: str | None) -> int:
    if right is None:
        return 0
    left, right = left[:VALUE_LIMIT], right[:VALUE_LIMIT]
    for place, (left_letter, right_letter) in enumerate(zip(left, right, strict=False)):
        if left_letter != right_letter:
            return place
    return min(len(left), len(right))


def first_lines(content: Content, width: int, whole: bool, *, hang: int = 0) -> list[Content]:
    """Return a value wrapped, and unless `whole`, cut to `ALONE_LINES` lines."""
    parts = _cut(content, width, hang, True)
    if whole or len(parts) <= ALONE_LINES:
        return parts
    return [*parts[: ALONE_LINES - 1], parts[ALONE_LINES - 1].truncate(width - 1).append_text(SYMBOLS.cut, MUTED)]


def _sign_text(pair: Pair) -> Content:
    """Return the lines of a sign of blame and its evidence, which belong to neither side."""
    return one_line(pair.expected, VALUE_LIMIT, "bold").append("  ").append(one_line(pair.actual, VALUE_LIMIT))


def _across(pair: Pair, call: Content, width: int, style: Style) -> Iterator[Content]:
    """Draw one call of a pair across both sides."""
    for place, part in enumerate(_call_lines(call, width - 3, style, 4)):
        yield (Content("   ") if place else sign(pair.name_mark, False)).append(part)


def _call_lines(call: Content, width: int, style: Style, hang: int) -> list[Content]:
    """Return a call wrapped, and unless `style` wraps, cut to `ALONE_LINES` lines before its last arguments."""
    parts = _cut(call, width, hang, True)
    if style.wrap or len(parts) <= ALONE_LINES:
        return parts
    end = call[max(len(call) - (width - hang - 1), 0) :]
    end = end[end.plain.find(" ") + 1 :].truncate(width - hang - 1)
    return [*parts[: ALONE_LINES - 1], Content(" " * hang).append_text(SYMBOLS.cut, MUTED).append(end)]


def _cut(content: Content, width: int, hang: int, wrap: bool) -> list[Content]:
    """Return the content cut to one line or, with `wrap`, wrapped with a hanging indent."""
    if content.cell_length <= width:
        return [content]
    if not wrap:
        return [lines.fit(content, width)]
    hang = min(hang, max(width - 8, 0))
    cuts = lines.wrap(content.plain, max(width - hang, 8))
    first, *rest = [content[start:end] for start, end in cuts]
    return [first, *(Content(" " * hang).append(part) for part in rest)]
