"""Makes untrusted text visible: control and invisible characters become readable marks, and nothing is deleted.

Pure string work. Line feeds stay, tabs become four spaces, every other control character, bidirectional control,
invisible character (zero-width, soft hyphen, tag, variation selector, byte order mark) and lone surrogate is replaced
by a mark (`^[`, `‹9B›`, `‹U+202E›`), because a reader of an evaluation must see that it was there. Parts of emoji are
left alone: a zero-width joiner between two pictures, a style selector after one. Stored data stay raw.
"""

import re

TAB = "    "
"""Replacement for a tab."""

_PICTURE = "\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"
_BEFORE_SELECTOR = f"{_PICTURE}#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u3297\u3299"
"""Characters with a text and a picture form, chosen by a style selector after them."""
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U00013430-\U00013440\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<![{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])|(?<![{_BEFORE_SELECTOR}])[\ufe0e\ufe0f]"
)


def mark_of(character: str) -> str:
    """Return the readable mark for one character that cannot be shown."""
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    if code < 0xA0:
        return f"‹{code:02X}›"
    return f"‹U+{code:04X}›"


def visible(text: str) -> str:
    """Return text safe to show on several lines; newlines are the only control characters left."""
    return visible_file(text.replace("\t", TAB))


def visible_file(text: str) -> str:
    """Return a file's text safe to show; tabs stay, because they may be part of its format."""
    return _HIDDEN.sub(_mark, text)


def visible_line(text: str) -> str:
    """Return text safe to show on one line; line feeds become spaces."""
    return visible(text).replace("\n", " ")


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the visible text and the (start, end) ranges of our marks in it, in order."""
    text = text.replace("\t", TAB)
    parts: list[str] = []
    ranges: list[tuple[int, int]] = []
    done = position = 0
    for match in _HIDDEN.finditer(text):
        kept, mark = text[done : match.start()], mark_of(match[0])
        parts += (kept, mark)
        position += len(kept)
        ranges.append((position, position + len(mark)))
        position += len(mark)
        done = match.end()
    if not ranges:
        return text, ranges
    parts.append(text[done:])
    return "".join(parts), ranges


def without_hidden(text: str) -> str:
    """Delete every such character, for the clipboard; line feeds and tabs stay."""
    return _HIDDEN.sub("", text)


def _mark(match: re.Match[str]) -> str:
    return mark_of(match[0])
