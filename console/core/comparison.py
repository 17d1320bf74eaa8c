"""Expected beside actual, ready to be drawn: made by a suite, which alone knows what its grader holds equal."""

from enum import StrEnum

import msgspec


class Mark(StrEnum):
    """How one row of a comparison came out; the value is the sign on screen."""

    SAME = "="
    DIFFERS = "≠"
    MISSING = "−"
    EXTRA = "+"
    WRONG_TYPE = "~"
    OMITTED = "·"
    """May be left out, and was."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One argument (or attribute). Values are literal source text, foreign."""

    mark: Mark
    name: str
    expected: tuple[str, ...] = ()
    """Allowed alternatives; empty when nothing was expected."""
    actual: str | None = None
    """None: not given."""
    note: str = ""
    """Ours: which rule, `after normalizing`, `not in schema`, both types …"""
    decisive: bool = False
    """The row at which the grader stopped."""
    optional: bool = False


class Pair(msgspec.Struct, frozen=True, omit_defaults=True):
    """One expected call, or other thing, beside the actual one the grader paired it with; either may be absent."""

    mark: Mark
    expected: str = ""
    actual: str = ""
    rows: tuple[Row, ...] = ()
    note: str = ""
    turn: int = 0
    kind: str = "call"
    """What is compared: `call`, `read` or `write` of a variable, `validator`, `state`, `result`."""

    @property
    def name_mark(self) -> Mark:
        """The mark beside the names: equal names are not marked as differing where a row says what does."""
        differs_below = any(row.mark not in (Mark.SAME, Mark.OMITTED) for row in self.rows)
        return Mark.SAME if self.expected == self.actual and differs_below else self.mark


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """All of a case that is compared."""

    sentence: str
    """The reason in words a newcomer knows: `wrong value: unit`."""
    pairs: tuple[Pair, ...] = ()
    rule: str = ""
    """The official error type and message."""
    hint: str = ""
    """The smallest change that would have passed, or why no output can pass."""
    raw: str = ""
    """What was decoded, when it could not be compared call by call."""
    note: str = ""
    """What is known of the grader here: a fault of the official code that its verdicts follow."""
    turns: tuple[Mark, ...] = ()
    """How the grader found each turn, where it judges turns: SAME, DIFFERS, or OMITTED for one that was not judged."""
    fault: str = ""
    """Why the suite's code could not compare; nothing else is said then. Foreign text."""
    has_end: bool = False
    """Whether the last of `turns` is none: it stands for what is judged at the end, of the whole conversation."""

    def is_end(self, number: int) -> bool:
        """Whether the number of a turn, from 0, stands for the end of the conversation."""
        return self.has_end and number == len(self.turns) - 1

    def turn_name(self, number: int) -> str:
        """Return what to call a turn, by its number from 0."""
        return "at the end" if self.is_end(number) else f"turn {number + 1}"
