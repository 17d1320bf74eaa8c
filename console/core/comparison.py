"""Expected and actual values side by side, ready to be drawn; built by suites, according to their grader's rules."""

from enum import StrEnum

import msgspec


class Mark(StrEnum):
    """Result of one row of a comparison; the value is the symbol on screen."""

    SAME = "="
    DIFFERS = "≠"
    MISSING = "−"
    EXTRA = "+"
    WRONG_TYPE = "~"
    OMITTED = "·"
    """Optional, and omitted."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One argument or attribute. Values are literal untrusted source text."""

    mark: Mark
    name: str
    expected: tuple[str, ...] = ()
    """Allowed alternatives; empty when nothing was expected."""
    actual: str | None = None
    """None if not given."""
    note: str = ""
    """The program's own remark: the rule, `after normalizing`, `not in schema`, both types."""
    decisive: bool = False
    """True for the row at which the grader stopped."""
    optional: bool = False


class Pair(msgspec.Struct, frozen=True, omit_defaults=True):
    """An expected call or other item, paired by the grader with an actual one; either may be missing."""

    mark: Mark
    expected: str = ""
    actual: str = ""
    rows: tuple[Row, ...] = ()
    note: str = ""
    turn: int = 0
    kind: str = "call"
    """Kind of item: `call`, `check`, `judge`, `read` or `write` of a variable, `validator`, `state`, `result`, `blame`;
    side by side, items of one kind share a row."""

    @property
    def name_mark(self) -> Mark:
        """Mark next to the names; equal names count as the same if a row below shows the difference."""
        differs_below = any(row.mark not in (Mark.SAME, Mark.OMITTED) for row in self.rows)
        return Mark.SAME if self.expected == self.actual and differs_below else self.mark


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """The complete comparison of a case."""

    sentence: str
    """The reason in plain words, such as `wrong value: unit`."""
    pairs: tuple[Pair, ...] = ()
    rule: str = ""
    """Official error type and message."""
    hint: str = ""
    """Smallest change that would have passed, or why no output can pass."""
    raw: str = ""
    """Decoded output, if it could not be compared call by call."""
    note: str = ""
    """Known defect of the official grader that the verdict follows."""
    turns: tuple[Mark, ...] = ()
    """Result of each turn for graders that judge turns: SAME, DIFFERS, or OMITTED if not judged."""
    fault: str = ""
    """Reason why the suite's code could not compare; nothing else is set then. Untrusted text."""
    has_end: bool = False
    """True if the last of `turns` is a judgment of the whole conversation at its end."""

    @property
    def expectations(self) -> tuple[Pair, ...]:
        """Pairs with something that the grader expects; without blame."""
        return tuple(pair for pair in self.pairs if pair.kind != "blame")

    def is_end(self, number: int) -> bool:
        """Return whether a turn number (from 0) stands for the end of the conversation."""
        return self.has_end and number == len(self.turns) - 1

    def turn_name(self, number: int) -> str:
        """Return the display name of a turn, given its number from 0."""
        return "at the end" if self.is_end(number) else f"turn {number + 1}"
