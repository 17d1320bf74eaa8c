"""Endings of a run's rollouts in columns, which take a quarter of the memory of records: a run may have a million."""

from array import array
from collections.abc import Iterator, MutableMapping
from math import isnan, nan

from console.core.case import Key, Slot
from console.core.outcome import Verdict
from console.core.record import Finished
from console.core.tally import Ended

_COLUMNS = 7
"""Attempt, time, seconds, tokens sent and written, calls, cost; a double holds every count, and NaN is no cost."""
_Words = tuple[str, str, str, str]
"""The fields `cut`, `model`, `server` and `written`, which most rollouts share."""


class Endings(MutableMapping[Slot, Ended]):
    """Latest ending of each rollout, without its output, by case and rollout; records are made when asked for."""

    def __init__(self, rollouts: int) -> None:
        """Start empty, for a run that plays each case so many times."""
        self._rollouts = rollouts
        self._first: dict[str, int] = {}
        """Row of the first rollout of each case; the others follow it."""
        self._numbers = array("d")
        self._verdicts: list[Verdict | None] = []
        """None for a rollout that has not ended."""
        self._words: list[_Words] = []
        self._shared: dict[_Words, _Words] = {}
        self._others: dict[Slot, Ended] = {}
        """Endings of rollouts that the plan does not have."""
        self._count = 0

    def _row(self, slot: Slot) -> int | None:
        first = self._first.get(slot[0])
        return None if first is None or slot[1] >= self._rollouts else first + slot[1]

    def __setitem__(self, slot: Slot, ended: Ended) -> None:
        """Keep an ending, in place of an earlier one."""
        if slot[1] >= self._rollouts:
            self._others[slot] = ended
            return
        words = (ended.cut, ended.model, ended.server, ended.written)
        words = self._shared.setdefault(words, words)
        if slot[0] not in self._first:
            self._first[slot[0]] = len(self._verdicts)
            self._numbers.frombytes(bytes(8 * _COLUMNS * self._rollouts))
            self._verdicts += [None] * self._rollouts
            self._words += [words] * self._rollouts
        row = self._first[slot[0]] + slot[1]
        self._count += self._verdicts[row] is None
        cost = nan if ended.cost_usd is None else ended.cost_usd
        tokens = (ended.input_tokens, ended.output_tokens)
        numbers = array("d", (ended.key.attempt, ended.at, ended.seconds, *tokens, ended.calls, cost))
        self._numbers[row * _COLUMNS : (row + 1) * _COLUMNS] = numbers
        self._verdicts[row], self._words[row] = ended.verdict, words

    def __getitem__(self, slot: Slot) -> Ended:
        """Return the ending of a rollout.

        Raises:
            KeyError: it has not ended.
        """
        row = self._row(slot)
        if row is None:
            return self._others[slot]
        if (verdict := self._verdicts[row]) is None:
            raise KeyError(slot)
        attempt, at, seconds, sent, written, calls, cost = self._numbers[row * _COLUMNS : (row + 1) * _COLUMNS]
        cut, model, server, form = self._words[row]
        return Finished(
            at=at,
            key=Key(*slot, int(attempt)),
            verdict=verdict,
            seconds=seconds,
            input_tokens=int(sent),
            output_tokens=int(written),
            cost_usd=None if isnan(cost) else cost,
            calls=int(calls),
            cut=cut,
            model=model,
            server=server,
            written=form,
        )

    def __delitem__(self, slot: Slot) -> None:
        """Forget an ending."""
        row = self._row(slot)
        if row is None:
            del self._others[slot]
        elif self._verdicts[row] is None:
            raise KeyError(slot)
        else:
            self._verdicts[row] = None
            self._count -= 1

    def __iter__(self) -> Iterator[Slot]:
        """Return the rollouts that have ended, by case."""
        for case, first in self._first.items():
            for rollout in range(self._rollouts):
                if self._verdicts[first + rollout] is not None:
                    yield case, rollout
        yield from self._others

    def __len__(self) -> int:
        """Return the number of rollouts that have ended."""
        return self._count + len(self._others)
