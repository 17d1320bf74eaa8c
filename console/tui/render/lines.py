"""Wrapping, fitting and rendering of lines, for widgets that use Textual's line API.

Wrapping is greedy from the left, so appending text changes only the last wrapped line, from which `wrap` can resume.
All widths are in terminal cells. All text must be sanitized (`console.tui.sanitize`).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from os.path import commonprefix

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

GetStyle = Callable[[str | Style], Style]
"""Resolves a style such as `bold $fail` against the theme; `App.stylesheet.parse_style` does."""
Cut = tuple[int, int]
"""Start and end offset of one wrapped line in its logical line."""


_JOINTS = "(,=._/"
"""Characters after which a long name, call or path is broken, in preference to mid-word."""


def wrap(line: str, width: int, start: int = 0) -> list[Cut]:
    """Split one logical line into wrapped lines of at most `width` cells.

    Args:
        line: text without line feeds.
        width: width in cells, at least 2.
        start: offset from which to resume an earlier wrap.

    Returns:
        Cuts in order; a blank at a cut is in neither line. An empty line gives one empty cut.
    """
    width = max(width, 2)
    length = len(line)
    narrow = line.isascii()
    cuts: list[Cut] = []
    while True:
        end = min(start + width, length) if narrow else _reach(line, start, width)
        if end >= length:
            cuts.append((start, length))
            return cuts
        if line[end] == " ":
            cuts.append((start, end))
            start = end + 1
            continue
        blank = line.rfind(" ", start + 1, end)
        if blank > start and line[start:blank].strip():
            cuts.append((start, blank))
            start = blank + 1
        else:
            end = max(line.rfind(joint, (start + end) // 2, end) for joint in _JOINTS) + 1 or end
            cuts.append((start, end))
            start = end


def _reach(line: str, start: int, width: int) -> int:
    """Return the largest `end` for which `line[start:end]` fits into `width` cells, at least `start + 1`."""
    end = min(start + width, len(line))
    while end > start + 1 and (over := cell_len(line[start:end]) - width) > 0:
        end -= max(1, over // 2)
    while end < len(line) and cell_len(line[start : end + 1]) <= width:
        end += 1
    return end


def fit(content: Content, width: int, *, right: bool = False) -> Content:
    """Return the content at exactly `width` cells, cut with `…` or padded; a number is omitted rather than cut.

    If it begins with `… `, as the end of a text does, its beginning is cut, preferably before a word.
    """
    if width <= 0:
        return Content.empty()
    missing = width - content.cell_length
    if missing < 0 and width > 2 and content.plain.startswith("… "):
        start = 2 - missing
        while content[start:].cell_length > width - 2:
            start += 1
        word = content.plain.find(" ", start - 1) + 1
        start = word if start <= word < start + width // 2 else start
        return fit(content[:2].append(content[start:]), width)
    if missing < 0:
        cut = content.truncate(width, ellipsis=True)
        end = len(cut.plain) - 1
        start = _number_start(content.plain, end)
        return content[:start].append("…").pad_right(end - start) if 0 < start < end else cut
    return content.pad_left(missing) if right else content.pad_right(missing)


def _number_start(text: str, end: int) -> int:
    """Return the start of a number that `end` would split, else `end`."""
    return next((number.start() for number in _NUMBER.finditer(text) if number.start() < end < number.end()), end)


_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")


_ATTEMPT = " attempt "
"""Words that introduce the number of a retry in the text of a `Key`."""


def fit_name(content: Content, width: int) -> Content:
    """Return an id at exactly `width` cells, cut in the middle, since ids often differ at their ends.

    A sentence, such as a question that stands for its case, is cut at its end. If there are two ids with two blanks
    between them, the last one is cut first. Of the key of a retried case, the words after the id are cut first if the
    id would be too short.
    """
    case, attempt, number = content.plain.rpartition(_ATTEMPT)
    if attempt and number.isdigit() and content.cell_length > width:
        room = width - len(attempt + number)
        words = content[len(case) :] if room >= 2 * _LEAST_NAME else Content.empty()
        return fit_name(content[: len(case)], width - words.cell_length).append(words)
    first = content.plain.rpartition("  ")[0]
    if first.strip() and content.cell_length > width:
        before = content[: len(first) + 2]
        room = width - before.cell_length
        if room < _LEAST_NAME:
            return fit_name(content[: len(first)], width)
        return before.append(fit_name(content[len(first) + 2 :], room))
    if content.cell_length <= width or width < _LEAST_NAME or content.plain.count(" ") > 2:
        return fit(content, width)
    text, tail = content.plain, (width - 1) // 2
    start = len(text) - tail
    while cell_len(text[start:]) > tail:
        start += 1
    return fit(content[: _reach(text, 0, width - 1 - tail)].append("…").append(content[start:]), width)


LONGEST_ID = 300
"""Maximum width, in cells, of an id before it is cut to its column."""
_LEAST_NAME = 6
"""Minimum width in cells for both ends of an id."""


def tell_apart(names: Iterable[str], width: int) -> dict[str, int]:
    """Return the offset at which to start each of several ids, so that `fit_name` rarely cuts two alike.

    Ids that would be cut alike start at the word in which they differ.
    """
    starts = dict.fromkeys(names, 0)
    tail = (width - 1) // 2
    head = width - 1 - tail
    for _ in range(_MOST_ROUNDS):
        by_ends = defaultdict[tuple[str, str], list[str]](list)
        for name, start in starts.items():
            shown = name[min(start, max(len(name) - width + 1, 0)) :]
            by_ends[shown[: head - (len(shown) < len(name))], shown[-tail:]].append(name)
        if len(by_ends) == len(starts):
            break
        for alike in by_ends.values():
            first = len(commonprefix(alike))  # noqa: RUF071 - of texts
            word = max((match.end() for match in _NO_WORD.finditer(alike[0], 0, first)), default=0)
            for name in alike if len(alike) > 1 else ():
                starts[name] = word if word != starts[name] else first
    return starts


def begun_at(name: Content, start: int, width: int) -> Content:
    """Return the part of an id that starts at an offset, or further left if there is room."""
    start = min(start, max(len(name.plain) - width + 1, 0))
    return Content("…").append(name[start:]) if start else name


_MOST_ROUNDS = 8
_NO_WORD = re.compile(r"[\W_]")


def fit_text(text: str, width: int, *, right: bool = False) -> str:
    """Return trusted plain text at exactly `width` cells, cut with `…` or padded."""
    if cell_len(text) > width:
        return set_cell_size(text, max(width - 1, 0)) + "…" if width > 0 else ""
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


def clause(text: str, width: int) -> str:
    """Shorten a trusted sentence to `width` cells, preferably at punctuation, else after a word."""
    if cell_len(text) <= width:
        return text
    head = text[: width - 1]
    for separator in ("; ", ", ", ": ", " "):
        if (end := head.rfind(separator)) > len(head) // 2:
            return head[:end] + (" …" if separator == " " and end + 2 <= width else "")
    return fit_text(text, width)


def room_beside(right: Content, width: int) -> int:
    """Return the width, in cells, that is left for the left part of a line made by `spread`."""
    return width - right.cell_length - (0 if not right or right.plain[0] == " " else 2)


def spread(left: Content, right: Content, width: int) -> Content:
    """Return one line with `left` and `right` at its ends; if too long, `left` is cut."""
    gap = "" if not right or right.plain[0] == " " else "  "
    room = room_beside(right, width)
    if room <= 0:
        return fit(right, width)
    return fit(left, room).append(gap).append(right)


def last_parts(note: Content, room: int, gap: str = "  ") -> Content:
    """Return the last parts of a note that fit, but at least the last one; `gap` is between parts."""
    while note.cell_length > room and (end := note.plain.find(gap)) > 0:
        note = note[end + len(gap) :]
    return note


def first_parts(words: Content, room: int) -> Content:
    """Return the leading parts that fit, whole; empty if not even the first one does."""
    ends = [match.start() for match in _PART_END.finditer(words.plain)]
    return next((words[:end] for end in reversed(ends) if words[:end].cell_length <= room), Content.empty())


_PART_END = re.compile(r"(?<=\S)(?: · |[,;:] |  +)|$")


def fit_parts(words: Content, room: int) -> Content:
    """Return words, if they are too long, without their last parts, or cut with `…` if half of the room were empty."""
    whole = first_parts(words, room)
    return whole if 2 * whole.cell_length > room else fit(words, min(room, words.cell_length))


def stacked(parts: Iterable[Content]) -> Content:
    """Join the non-empty parts on one line."""
    return Content("  ").join([part for part in parts if part])


def strip_of(content: Content, width: int, base: Style, get_style: GetStyle) -> Strip:
    """Draw one line at exactly `width` cells on the base style."""
    segments = [
        Segment(text, (base + style).rich_style) for text, style in content.render(base, end="", parse_style=get_style)
    ]
    return Strip(segments, content.cell_length).adjust_cell_length(width, base.rich_style)


def sentence_line(text: Content, y: int, width: int, base: Style, get_style: GetStyle) -> Strip:
    """Draw line `y` of the text in an otherwise empty pane, wrapped and indented by two cells."""
    room = max(width - 4, 8)
    wrapped = [part for line in text.split("\n") for part in (line.wrap(room) if line else [line])]
    line = Content("  ").append(wrapped[y]) if y < len(wrapped) else Content.empty()
    return strip_of(line, width, base, get_style)
