"""`AsciiFilter`: with `--ascii`, every sign of ours that is no ASCII becomes one that is, of the same width.

Marks have ASCII letters of their own (`console.tui.render.symbols`); this filter takes care of what figures, frames,
bars and sentences use. Foreign letters stay as they are: they are what the reader came to read.
"""

from collections.abc import Mapping

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PAIRS = ((" ±", "+-"), (" ≥", ">="), (" …", ".."))
"""Signs that take the blank before them, so that a line stays as wide as it was."""
_GROUPS: Mapping[str, str] = {
    "-": "─━╌╍┄┅╴╶−–—▔",
    "|": "│┃╎╏┆┇╵╷‖▏▎▍▌▋▊▉▐▕",
    "+": "┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋±",
    "=": "═▄▅",
    "#": "█▆▇■▓▀",
    "_": "▁▂",
    ":": "▃▒",
    ".": "·░•",
    "*": "●★",
    "o": "○◦",
    ">": "▶▸→≥›⇢",
    "<": "←≤‹",
    "v": "▾▼↓⇣",
    "^": "▴▲↑",
    "x": "×≠",
    "P": "✓",
    "F": "✗",
    "~": "…≈",
    '"': "“”„",
    "'": "‘’",
    " ": "\u00a0\u2009\u202f\u2007",
}
_TABLE = {ord(sign): plain for plain, signs in _GROUPS.items() for sign in signs}


def to_ascii(text: str) -> str:
    """Return a text with our signs in ASCII, as wide as before."""
    if text.isascii():
        return text
    for pretty, plain in _PAIRS:
        text = text.replace(pretty, plain)
    return text.translate(_TABLE)


class AsciiFilter(LineFilter):
    """Replaces the signs of every drawn line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with our signs in ASCII."""
        return [
            segment if segment.control or segment.text.isascii() else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]
