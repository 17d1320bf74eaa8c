"""Bars and sparklines in the signs in use: block elements, or plain ASCII where a terminal has no more."""

from collections.abc import Sequence

from console.insight import number_format
from console.tui.render.symbols import SYMBOLS

_STEPS = "_.:-=+*#"


def is_ascii() -> bool:
    """Whether only ASCII signs are in use."""
    return SYMBOLS.rule == "-"


def bar(share: float, width: int) -> str:
    """Return a horizontal bar of at most `width` cells; never empty for a share above 0."""
    if not is_ascii():
        return number_format.bar(share, width)
    return "#" * max(round(min(share, 1.0) * width), int(share > 0))


def spark(values: Sequence[float | None], width: int, top: float | None = None) -> str:
    """Return the last values as bars, at most `width` of them."""
    drawn = number_format.sparkline(list(values), width, top)
    return drawn.translate(_TO_ASCII) if is_ascii() else drawn


_TO_ASCII = str.maketrans(dict(zip("▁▂▃▄▅▆▇█", _STEPS, strict=True)))
