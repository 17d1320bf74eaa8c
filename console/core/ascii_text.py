"""Our own signs in ASCII, for terminals and logs that show no others; foreign letters stay as they are."""

from collections.abc import Mapping

_PAIRS = ((" ±", "+-"), (" ≥", ">="), (" …", ".."))
"""Signs that take the blank before them, so that a line stays as wide as it was."""
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
    """Return a text with our signs in ASCII, as wide as before."""
    if text.isascii():
        return text
    for pretty, plain in _PAIRS:
        text = text.replace(pretty, plain)
    return text.translate(_TABLE)
