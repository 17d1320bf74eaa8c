"""Endings of a run's rollouts, stored by an engine in eight bytes each: a run may have a million."""

from collections.abc import Iterator, MutableMapping

import msgspec

from console.core.case import Key, Slot
from console.core.outcome import Verdict
from console.core.tally import MOST_SHARED, Counted

_Row = tuple[int, Verdict, str, str, str, str]
"""Attempt and fields of an ending, one tuple for all rollouts with the same ending."""


class Ending(msgspec.Struct, frozen=True, gc=False):
    """The fields of a finished rollout needed for counts."""

    key: Key
    verdict: Verdict
    cut: str
    model: str
    server: str
    written: str


class Endings(MutableMapping[Slot, Counted]):
    """Latest ending of each rollout, by case and rollout."""

    def __init__(self, rollouts: int) -> None:
        """Start empty, for a run that plays each case this many times."""
        self._rollouts = rollouts
        self._first: dict[str, int] = {}
        """Row of the first rollout of each case; the others follow it."""
        self._rows: list[_Row | None] = []
        """None for a rollout that has not ended."""
        self._shared: dict[tuple[int, int, str, str, str, str], _Row] = {}
        """Rows by their fields, by identity of the verdict, as equal verdicts are usually the same object."""
        self._others: dict[Slot, Counted] = {}
        """Endings of rollouts that are not in the plan."""
        self._count = 0

    def _row(self, slot: Slot) -> int | None:
        first = self._first.get(slot[0])
        return None if first is None or slot[1] >= self._rollouts else first + slot[1]

    def __setitem__(self, slot: Slot, ended: Counted) -> None:
        """Store an ending, replacing an earlier one."""
        if slot[1] >= self._rollouts:
            self._others[slot] = ended
            return
        if slot[0] not in self._first:
            self._first[slot[0]] = len(self._rows)
            self._rows += [None] * self._rollouts
        row = self._first[slot[0]] + slot[1]
        self._count += self._rows[row] is None
        attempt, verdict = ended.key.attempt, ended.verdict
        words = (ended.cut, ended.model, ended.server, ended.written)
        if len(self._shared) >= MOST_SHARED:  # scores and fingerprints of servers may all differ
            self._shared.clear()
        self._rows[row] = self._shared.setdefault((attempt, id(verdict), *words), (attempt, verdict, *words))

    def __getitem__(self, slot: Slot) -> Counted:
        """Return the ending of a rollout.

        Raises:
            KeyError: it has not ended.
        """
        number = self._row(slot)
        if number is None:
            return self._others[slot]
        if (row := self._rows[number]) is None:
            raise KeyError(slot)
        attempt, verdict, cut, model, server, written = row
        return Ending(Key(*slot, attempt), verdict, cut, model, server, written)

    def __delitem__(self, slot: Slot) -> None:
        row = self._row(slot)
        if row is None:
            del self._others[slot]
        elif self._rows[row] is None:
            raise KeyError(slot)
        else:
            self._rows[row] = None
            self._count -= 1

    def __iter__(self) -> Iterator[Slot]:
        """Return the rollouts that have ended, by case."""
        for case, first in self._first.items():
            for rollout in range(self._rollouts):
                if self._rows[first + rollout] is not None:
                    yield case, rollout
        yield from self._others

    def __len__(self) -> int:
        return self._count + len(self._others)
