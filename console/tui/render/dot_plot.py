"""Differences as dots on a line: A's score, B's score and the way between them. Pure."""

from textual.content import Content

from console.exchange.comparison_table import signed
from console.insight import number_format
from console.insight.by_case import CasePair
from console.tui.render import lines
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"
_NUMBERS = 22
"""Cells of A, B and their difference."""


def dots(a: float, b: float, most: float, width: int) -> Content:
    """Draw A as ○ and B as ● on a line from 0 to `most` of `width` cells; where they meet, only B is seen."""
    last = max(width - 1, 1)
    at_a, at_b = (min(max(round(value / most * last), 0), last) if most > 0 else 0 for value in (a, b))
    style = MUTED if a == b else "$pass" if b > a else "$fail"
    low, high = sorted((at_a, at_b))
    drawn = [Content.styled(SYMBOLS.not_run * low, MUTED), Content.styled(SYMBOLS.rule * (high - low + 1), style),
             Content.styled(SYMBOLS.not_run * (last - high), MUTED)]  # fmt: skip
    line = Content.empty().join(drawn)
    for place, sign, look in ((at_a, SYMBOLS.not_ready, style), (at_b, SYMBOLS.live, f"bold {style}")):
        line = Content.assemble(line[:place], (sign, look), line[place + 1 :])
    return line


def dot_lines(pairs: list[CasePair], width: int) -> list[Content]:
    """Return a heading and one line for every case: its name, both means, their difference, and the dots."""
    most = max([1.0, *(value for pair in pairs for value in (pair.a, pair.b) if value is not None)])
    room = max(min((width - _NUMBERS) * 11 // 20, 60), 12)
    line = max(width - room - _NUMBERS - 2, 8)
    scale = f"0{number_format.number(most).rjust(line - 1)}"
    names = f"{'A':>6} {'B':>6} {'B − A':>7}  "
    head = Content.styled(f"{f'{SYMBOLS.not_ready} A   {SYMBOLS.live} B':<{room}}{names}", f"bold {MUTED}")
    return [head.append_text(scale, MUTED), *(_line(pair, room, most, line) for pair in pairs)]


def _line(pair: CasePair, room: int, most: float, width: int) -> Content:
    name = lines.fit(one_line(pair.title or pair.case, 200), room)
    if pair.a is None or pair.b is None:
        return name.append_text("  left out: not two grades", MUTED)
    change = pair.b - pair.a
    style = MUTED if not change else "bold $pass" if change > 0 else "bold $fail"
    numbers = f"{number_format.number(pair.a):>6} {number_format.number(pair.b):>6} "
    return Content.assemble(
        name, numbers, (f"{signed(change, number_format.number):>7}", style), "  ", dots(pair.a, pair.b, most, width),
    )  # fmt: skip
