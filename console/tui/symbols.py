"""Symbols, words and bars for outcomes and states, in Unicode and in ASCII."""

from collections.abc import Sequence

import msgspec
from textual.content import Content

from console.core.outcome import Outcome
from console.core.run import Tally
from console.insight import number_format


class Symbols(msgspec.Struct):
    """A symbol for each state. `SYMBOLS` is the set in use; `use_ascii` changes it before the app starts."""

    passed: str = "✓"
    failed: str = "✗"
    broken: str = "!"
    undecided: str = "?"
    not_run: str = "·"
    setup: str = "◇"
    running: str = "▶"
    stopped: str = "■"
    paused: str = "‖"
    not_ready: str = "○"
    live: str = "●"
    chosen: str = "x"
    opened: str = "▾"
    folded: str = "▸"
    cut: str = "…"
    rule: str = "─"
    bar: str = "█"
    changed: str = "≠"
    branch: str = "↳"
    pinned: str = "◆"
    call: str = "→"
    result: str = "←"
    here: str = "◀"
    is_ascii: bool = False

    def use_ascii(self) -> None:
        self.passed, self.failed, self.not_run = "P", "F", "."
        self.is_ascii, self.changed, self.setup = True, "x", "="
        self.running, self.stopped, self.not_ready, self.live = ">", "#", "o", "*"
        self.paused, self.branch, self.call, self.result = "=", "+", "->", "<-"
        self.pinned, self.here = "^", "<"
        self.opened, self.folded, self.cut, self.rule, self.bar = "v", ">", "~", "-", "#"

    def of(self, outcome: Outcome) -> str:
        symbol: str = getattr(self, outcome.value)
        return symbol


SYMBOLS = Symbols()
MUTED = "$muted"
"""Theme role of secondary text."""
OUTCOME_STYLES = {
    Outcome.PASSED: "$pass",
    Outcome.FAILED: "$fail",
    Outcome.BROKEN: "$broken",
    Outcome.UNDECIDED: "$undecided",
    Outcome.NOT_RUN: MUTED,
}
"""Theme role of each outcome, for `Content` spans."""


def muted(words: str) -> Content:
    """Return trusted words in the muted style."""
    return Content.styled(words, MUTED)


def block_title(words: str) -> Content:
    """Return trusted words in the style of a block's title."""
    return Content.styled(words, f"bold {MUTED}")


def outcome_sign(outcome: Outcome | None) -> Content:
    """Return the styled symbol of an outcome; None means still running."""
    return muted(SYMBOLS.running) if outcome is None else Content.styled(SYMBOLS.of(outcome), OUTCOME_STYLES[outcome])


def outcome_counts(tally: Tally) -> list[tuple[str, int, str]]:
    """Return (symbol, count, style) of the four outcomes, in display order."""
    counts = (
        (Outcome.PASSED, tally.passed),
        (Outcome.FAILED, tally.failed),
        (Outcome.BROKEN, tally.broken),
        (Outcome.UNDECIDED, tally.undecided),
    )
    return [(SYMBOLS.of(outcome), count, OUTCOME_STYLES[outcome]) for outcome, count in counts]


_STATES = {
    "queued": ("queued", "$live"),
    "starting": ("starting", "bold $live"),
    "running": ("running", "bold $live"),
    "pausing": ("pausing", "bold $undecided"),
    "paused": ("paused", "bold $undecided"),
    "stopping": ("stopping", "bold $undecided"),
    "completed": ("finished", MUTED),
    "decided": ("decided", MUTED),
    "stopped": ("stopped", MUTED),
    "interrupted": ("interrupted", "$broken"),
    "budget": ("stopped at its cap", "$undecided"),
    "halted": ("halted", "bold $broken"),
    "damaged": ("damaged", "bold $broken"),
}


def state_word(state: str, sign: str = "") -> Content:
    """Return the styled word for a state of the journal or an engine, after a symbol; `unknown` for unknown states."""
    word, style = _STATES.get(state, ("unknown", MUTED))
    return Content.styled(f"{sign} {word}" if sign else word, style)


def bar(share: float, width: int) -> str:
    """Return a horizontal bar of at most `width` cells; never empty for a share above 0."""
    if not SYMBOLS.is_ascii:
        return number_format.bar(share, width)
    return "#" * max(round(min(share, 1.0) * width), int(share > 0))


def spark(values: Sequence[float | None], width: int, top: float | None = None) -> str:
    """Return a sparkline of the last values, at most `width` of them."""
    drawn = number_format.sparkline(list(values), width, top)
    return drawn.translate(_TO_ASCII) if SYMBOLS.is_ascii else drawn


_TO_ASCII = str.maketrans("▁▂▃▄▅▆▇█", "_.:-=+*#")
