"""Sanitizing of untrusted text: model output, datasets, ids, file names, provider errors, anything in models.toml.

All untrusted text reaches a widget through this module. `literal` and `one_line` clean it (see `console.core.text`) and
build `Content` directly, so it is never parsed as markup or interpreted by the terminal. As a second line of defense,
`ControlCharacterFilter` deletes control characters from everything the app writes to the terminal.
"""

import re

from rich.segment import Segment
from textual.color import Color
from textual.content import Content, Span
from textual.filter import LineFilter

from console.core.text import marked, visible_line
from console.tui.symbols import MUTED

MESSAGE_LIMIT = 1_000_000
"""Maximum number of characters shown of one string; a longer one is reduced to its head and tail."""
LINE_LIMIT = 4_000
"""Maximum width of a line, in cells."""

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def literal(text: str, limit: int = MESSAGE_LIMIT, style: str = "") -> Content:
    """Return cleaned untrusted text, of any number of lines, for a widget.

    Args:
        text: the raw text.
        limit: maximum number of characters; longer text is cut by `shorten`.
        style: a trusted style for all of it, such as `$muted`.
    """
    clean, ranges = marked(shorten(text, limit))
    spans = [Span(0, len(clean), style)] if style and clean else []
    spans += [Span(start, end, MUTED) for start, end in ranges]
    return Content(clean, spans)


def one_line(text: str, width: int = LINE_LIMIT, style: str = "") -> Content:
    """Return cleaned untrusted text as one line of at most `width` cells, cut with `…`."""
    text = text[: width * 2 + 8].replace("\n", " ")
    return literal(text, len(text), style).truncate(width, ellipsis=True)


def marks_in(text: str) -> Content:
    """Return a marker for each kind of unprintable character in a string, to show next to a field that edits it raw."""
    clean, ranges = marked(text)
    return Content.styled(" ".join(dict.fromkeys(clean[start:end] for start, end in ranges)), MUTED)


def plain_line(text: str) -> str:
    """Return cleaned untrusted text as a one-line string, where `Content` is not accepted."""
    return visible_line(text[:LINE_LIMIT])


def shorten(text: str, limit: int) -> str:
    """Return the text; if too long, its head and tail around the number of omitted characters."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    gap = len(text) - head - tail
    return f"{text[:head]}\n… {gap:,} characters not shown, e opens all …\n{text[len(text) - tail :]}"


class ControlCharacterFilter(LineFilter):
    """Deletes control and bidirectional characters from terminal output."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
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
