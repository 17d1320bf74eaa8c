"""Blocks of a transcript: a message, tool call, score or note, sanitized and wrapped lazily.

A block caches its wrapped lines for one width. Appending re-wraps only from the last wrapped line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from textual.content import Content, Span

from console.core.text import marked
from console.tui.render import lines
from console.tui.sanitize import LINE_LIMIT, MESSAGE_LIMIT, shorten
from console.tui.symbols import MUTED

_HEAD, _TAIL = LINE_LIMIT * 3 // 4, LINE_LIMIT // 4
"""Number of characters shown from the beginning and from the end of a long line."""
_NOTE = re.compile(r" … \+([\d,]+), e opens all … ")


@dataclass(slots=True)
class Block:
    """One part of a transcript. Only its text can change, by `append`; for other changes, make a new block."""

    key: str
    title: Content = field(default_factory=Content.empty)
    """First line, such as the speaker, sanitized; empty to omit it."""
    aside: Content = field(default_factory=Content.empty)
    """Right end of the title line, such as tokens and seconds."""
    text: str = ""
    """Raw untrusted text, sanitized when it is measured."""
    body: Sequence[Content] = ()
    """Sanitized lines shown instead of `text`."""
    style: str = ""
    """Style of `text`."""
    indent: int = 2
    hang: int = 0
    """Additional indent of the lines that continue a wrapped one."""
    folded: bool = False
    """True if only the title line, with the number of lines, and the `tail` are shown."""
    tail: int = 0
    """Number of wrapped lines at its end that are shown while it is folded."""
    opened_by: str = "x"
    """Key that opens it when folded, shown in its title."""
    gap: bool = True
    """True if an empty line follows."""
    hides: bool = False
    """True if its body omits parts that are equal, which the fold key shows."""
    folds_alone: bool = False
    """True if the fold key folds this block even in a view where it otherwise folds matching rows."""
    limit: int = MESSAGE_LIMIT
    _lines: list[Content] | None = None
    _cuts: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    _width: int = 0

    @property
    def can_fold(self) -> bool:
        """True if it is folded, or has lines below its title to hide."""
        return self.folded or bool(self.logical)

    # Text ------------------------------------------------------------------------------------------------------------

    @property
    def logical(self) -> list[Content]:
        """The sanitized lines before wrapping, each cut in the middle to `LINE_LIMIT`."""
        if self._lines is None:
            self._lines = (
                list(self.body) if self.body or not self.text else _lines_of(self.text, self.limit, self.style)
            )
        return self._lines

    def append(self, text: str) -> int:
        """Append untrusted text.

        Returns:
            Index of the first line of the block that changed.
        """
        if not text:
            return bool(self.title) + max(len(self._cuts) - 1, 0)
        lines_before = self._lines
        self.text += text
        if lines_before is None or not self._width:
            self._lines = None
            self._cuts = []
            return 0
        if self._cuts:
            self._cuts.pop()  # the last wrapped line may change
        fresh = _lines_of(text, self.limit, self.style)
        if lines_before:
            lines_before[-1] = _joined(lines_before[-1], fresh[0])
            if len(lines_before[-1]) > LINE_LIMIT:  # its tail changes
                while self._cuts and self._cuts[-1][0] == len(lines_before) - 1 and self._cuts[-1][2] > _HEAD:
                    self._cuts.pop()
            lines_before += fresh[1:]
        else:
            lines_before += fresh
        first = len(self._cuts)
        self._wrap_on()
        return first + bool(self.title)

    # Lines at a width ------------------------------------------------------------------------------------------------

    def height_at(self, width: int) -> int:
        """Return the number of lines at a width, including the gap."""
        if width != self._width:
            self._width, self._cuts = width, []
        if not self._cuts and not (self.folded and not self.tail):
            self._wrap_on()
        return self._heading + len(self._cuts) - self._hidden + self.gap

    def line_at(self, place: int, width: int, *, opens: bool = False) -> Content:
        """Return line `place` of the block, wrapped at the width last passed to `height_at`.

        With `opens`, the title of a folded block names the key that opens it.
        """
        if self._heading:
            if place == 0:
                title = self._title_line(opens=opens)
                aside = lines.last_parts(self.aside, width - title.cell_length - 2)
                crowded = title.cell_length + aside.cell_length + 2 > width
                return lines.fit(title, width) if crowded else lines.spread(title, aside, width)
            place -= 1
        place += self._hidden
        if place >= len(self._cuts):
            return Content.empty()
        number, start, end = self._cuts[place]
        return Content(" " * self.indent_at(start)).append(self.logical[number][start:end])

    def indent_at(self, start: int) -> int:
        """Return the cells before a line that begins at an offset of its logical line."""
        return self.indent + (self.hang if start else 0)

    def part_at(self, place: int) -> tuple[int, int, int] | None:
        """Return (logical line, start, end) of line `place`; None for title and gap."""
        place -= self._heading
        return self._cuts[place + self._hidden] if 0 <= place < len(self._cuts) - self._hidden else None

    def place_of(self, number: int, offset: int) -> int:
        """Return the index of the line that shows an offset of a logical line."""
        for place, (line, start, end) in enumerate(self._cuts):
            if line == number and start <= offset <= end:
                return max(place - self._hidden, 0) + self._heading
        return 0

    @property
    def _heading(self) -> int:
        """Number of title lines."""
        return int(bool(self.title) or self.folded)

    @property
    def _hidden(self) -> int:
        """Number of wrapped lines before the first one that is shown."""
        return max(len(self._cuts) - self.tail, 0) if self.folded else 0

    def _title_line(self, *, opens: bool) -> Content:
        if not self.folded:
            return self.title
        count = len(self.logical)
        words = f"  {count} line{'s' * (count != 1)}{', only the end shown' * bool(self.tail)}"
        return self.title.append_text(f"{words}{f' ({self.opened_by})' * opens}", MUTED)

    def _wrap_on(self) -> None:
        room = max(self._width - self.indent, 4)
        number, start = self._resume_point()
        for place in range(number, len(self.logical)):
            plain = self.logical[place].plain
            cuts = lines.wrap(plain, room, start)
            if self.hang and len(cuts) > 1:
                cuts[1:] = lines.wrap(plain, room - self.hang, cuts[1][0])
            self._cuts += [(place, first, last) for first, last in cuts]
            start = 0

    def _resume_point(self) -> tuple[int, int]:
        if not self._cuts:
            return 0, 0
        number, _, end = self._cuts[-1]
        plain = self.logical[number].plain
        if end >= len(plain):
            return number + 1, 0
        return number, end + (plain[end] == " ")


def _lines_of(text: str, limit: int, style: str) -> list[Content]:
    """Sanitize text and split it into logical lines."""
    clean, ranges = marked(shorten(text, limit))
    plain_lines = clean.split("\n")
    if not ranges:
        return [_cut_long(Content.styled(plain, style)) for plain in plain_lines]
    return _marked_lines(plain_lines, ranges, style)


def _marked_lines(plain_lines: list[str], ranges: list[tuple[int, int]], style: str) -> list[Content]:
    out: list[Content] = []
    waiting, position = 0, 0
    for plain in plain_lines:
        spans = [Span(0, len(plain), style)] if style and plain else []
        end = position + len(plain)
        while waiting < len(ranges) and ranges[waiting][0] < end:
            first, last = ranges[waiting]
            spans.append(Span(first - position, last - position, MUTED))
            waiting += 1
        out.append(_cut_long(Content(plain, spans)))
        position = end + 1
    return out


def _cut_long(line: Content) -> Content:
    """Cut a line in the middle, since prompts often end with the question."""
    hidden = len(line) - LINE_LIMIT
    return line if hidden <= 0 else _with_note(line[:_HEAD], hidden, line[-_TAIL:])


def _with_note(head: Content, hidden: int, tail: Content) -> Content:
    return head.append_text(f" … +{hidden:,}, e opens all … ", MUTED).append(tail)


def _joined(line: Content, more: Content) -> Content:
    """Append to a logical line; either may be cut already."""
    left, right = _hidden_in(line), _hidden_in(more)
    if not left and not right:
        return _cut_long(line.append(more))
    head = line[:_HEAD] if left else line.append(more[:_HEAD])[:_HEAD]
    tail = more[-_TAIL:] if right else line[-_TAIL:].append(more)[-_TAIL:]
    lengths = [LINE_LIMIT + hidden if hidden else len(part) for part, hidden in ((line, left), (more, right))]
    return _with_note(head, sum(lengths) - LINE_LIMIT, tail)


def _hidden_in(line: Content) -> int:
    """Return the number of characters cut from a line; 0 if it is whole."""
    note = _NOTE.match(line.plain, _HEAD) if len(line) > LINE_LIMIT else None
    return int(note[1].replace(",", "")) if note else 0
