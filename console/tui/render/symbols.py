"""`SYMBOLS`: signs of outcomes and states, in Unicode and in plain ASCII."""

import msgspec

from console.core.outcome import Outcome


class Symbols(msgspec.Struct):
    """One sign for each state. `SYMBOLS` is the set in use; `use_ascii` changes it before the app starts."""

    passed: str = "✓"
    failed: str = "✗"
    broken: str = "!"
    undecided: str = "?"
    not_run: str = "·"
    prepared: str = "◇"
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
    is_ascii: bool = False

    def use_ascii(self) -> None:
        """Change to signs that every terminal and font has."""
        self.passed, self.failed, self.not_run = "P", "F", "."
        self.is_ascii, self.changed, self.prepared = True, "x", "="
        self.running, self.stopped, self.not_ready, self.live = ">", "#", "o", "*"
        self.paused = "="
        self.opened, self.folded, self.cut, self.rule, self.bar = "v", ">", "~", "-", "#"

    def of(self, outcome: Outcome) -> str:
        """Return the sign of an outcome."""
        signs = {
            Outcome.PASSED: self.passed,
            Outcome.FAILED: self.failed,
            Outcome.BROKEN: self.broken,
            Outcome.UNDECIDED: self.undecided,
            Outcome.NOT_RUN: self.not_run,
        }
        return signs[outcome]


SYMBOLS = Symbols()

OUTCOME_STYLES = {
    Outcome.PASSED: "$pass",
    Outcome.FAILED: "$fail",
    Outcome.BROKEN: "$broken",
    Outcome.UNDECIDED: "$undecided",
    Outcome.NOT_RUN: "$muted",
}
"""Theme role of each outcome, for `Content` spans."""
