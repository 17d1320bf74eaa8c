"""ASCII replacements for the program's own symbols; other letters are left alone."""

from collections.abc import Mapping

_PAIRS = ((" ±", "+-"), (" ≥", ">="), (" …", ".."))
"""Symbols replaced together with the space before them, so that the width of the line is kept."""
_GROUPS: Mapping[str, str] = {
    "-": "─━╌╍┄┅╴╶−–—▔",
    "|": "│┃╎╏┆┇╵╷‖▏▎▍▌▋▊▉▐▕",
    "+": "┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋±",
    "=": "═▄▅",
    "#": "█▆▇■▓▀≠",
    "_": "▁▂",
    ":": "▃▒",
    ".": "·░•",
    "*": "●★",
    "o": "○◦",
    ">": "▶▸→≥›⇢",
    "<": "←≤‹",
    "v": "▾▼↓⇣",
    "^": "▴▲↑",
    "x": "×",
    "P": "✓✔",
    "F": "✗",
    "~": "…≈",
    '"': "“”„",
    "'": "‘’",
    " ": "\u00a0\u2009\u202f\u2007",
}
_TABLE = {ord(sign): plain for plain, signs in _GROUPS.items() for sign in signs}


def to_ascii(text: str) -> str:
    """Replace the program's own symbols with ASCII of the same width."""
    if text.isascii():
        return text
    for pretty, plain in _PAIRS:
        text = text.replace(pretty, plain)
    return text.translate(_TABLE)
