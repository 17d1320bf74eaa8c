"""Makes foreign text safe to show: model output, data sets, ids, file names, provider errors, anything in models.toml.

It reaches a widget in no other way. `literal` and `one_line` clean it (see `console.core.text`) and build `Content`
directly, so that nothing foreign is ever parsed as markup or obeyed by the terminal. `ControlCharacterFilter` works
under the whole app: it deletes whatever control character would still reach the terminal.
"""

import re

from rich.segment import Segment
from textual.color import Color
from textual.content import Content, Span
from textual.filter import LineFilter

from console.core.text import marked, visible_line
from console.tui.symbols import MUTED

MESSAGE_LIMIT = 1_000_000
"""Characters of one text that are shown; of a longer one, its head and tail."""
LINE_LIMIT = 4_000
"""Cells of one line that are shown."""

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def literal(text: str, limit: int = MESSAGE_LIMIT, style: str = "") -> Content:
    """Return foreign text of any number of lines, cleaned, ready for a widget.

    Args:
        text: the text as stored.
        limit: characters to show; a longer text shows head and tail around a line that says how much is left out.
        style: a style of ours, such as `$muted`, for the whole.
    """
    clean, ranges = marked(shorten(text, limit))
    spans = [Span(0, len(clean), style)] if style and clean else []
    spans += [Span(start, end, MUTED) for start, end in ranges]
    return Content(clean, spans)


def one_line(text: str, width: int = LINE_LIMIT, style: str = "") -> Content:
    """Return foreign text as one line of at most `width` cells, cut with `…`: for cells, titles, palette and toasts."""
    text = text[: width * 2 + 8].replace("\n", " ")
    return literal(text, len(text), style).truncate(width, ellipsis=True)


def marks_in(text: str) -> Content:
    """Return a mark for each kind of unshowable character in a text, for a field in which it can only be edited raw."""
    clean, ranges = marked(text)
    return Content.styled(" ".join(dict.fromkeys(clean[start:end] for start, end in ranges)), MUTED)


def plain_line(text: str) -> str:
    """Return foreign text as one clean line of plain characters, for places that take no `Content`."""
    return visible_line(text[:LINE_LIMIT])


def shorten(text: str, limit: int) -> str:
    """Return the text, or its head and tail with the number of characters left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    gap = len(text) - head - tail
    return f"{text[:head]}\n… {gap:,} characters not shown, e opens all …\n{text[len(text) - tail :]}"


class ControlCharacterFilter(LineFilter):
    """Deletes control and bidirectional characters from whatever is about to be written to the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments, cleaned where needed; the common case costs one scan."""
        if not any(_is_unsafe(segment) for segment in segments):
            return segments
        return [
            Segment(_UNSAFE.sub("", segment.text), segment.style) if _is_unsafe(segment) else segment
            for segment in segments
        ]


def _is_unsafe(segment: Segment) -> bool:
    text = segment.text
    if text.isascii() and text.isprintable():
        return False
    return not segment.control and _UNSAFE.search(text) is not None
