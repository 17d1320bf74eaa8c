"""Ends a run, or some of its categories, as soon as its looks or its race have decided."""

import asyncio
import time
from collections.abc import Callable

from console.core.case import Slot
from console.core.record import AnyRecord, Looked
from console.core.tally import RunFold
from console.engine.looks import Looks
from console.engine.plan import PreparedRun
from console.engine.queue import JobQueue
from console.engine.race import Race, race_of
from console.store.runs import RunFolder


class EarlyEnd:
    """Takes the looks of one run while it plays, and follows its race."""

    def __init__(
        self,
        folder: RunFolder,
        prepared: PreparedRun,
        fold: RunFold,
        *,
        append: Callable[[AnyRecord], None],
        end: Callable[[str, str], None],
        is_ending: Callable[[], bool],
        to_the_end: bool,
    ) -> None:
        """Prepare to decide.

        Args:
            folder: the run's folder.
            prepared: its plan, cases and suite.
            fold: its results so far, kept up to date by the engine.
            append: journals a record.
            end: ends the run, given a reason and its description.
            is_ending: returns True once nothing is left to decide.
            to_the_end: play everything, regardless of the looks' decisions.
        """
        self._folder, self._prepared, self._fold = folder, prepared, fold
        self._append, self._end, self._is_ending = append, end, is_ending
        self._to_the_end = to_the_end
        self._race: Race | None = None

    def open(self, queue: JobQueue) -> None:
        """Begin with the jobs left to play, and apply the decisions of earlier sessions of the run."""
        self._queue = queue
        prepared = self._prepared
        self._looks = Looks(
            prepared.manifest,
            prepared.cases,
            prepared.suite,
            self._fold.looks,
            baseline=prepared.baseline,
            decides=not self._to_the_end,
        )
        self._looks.open(queue.slots)
        self._race = None if self._to_the_end else race_of(self._folder, prepared)
        self._drop_decided()
        self.take_looks()

    def settle(self, slot: Slot) -> None:
        """Count a rollout as finished."""
        self._looks.settle(slot)

    def take_looks(self) -> None:
        """Take the looks that have become possible, unless the run has ended, and end it if they have decided."""
        if self._is_ending():
            return
        for look in self._looks.take(self._fold):
            self._append(Looked(at=time.time(), look=look, beyond=self._looks.beyond(look, self._fold)))
            if look.decision and look.category:
                self._drop_decided()
        if self._looks.decision:
            self._end("decided", self._looks.words)

    async def follow_race(self, wake: Callable[[], None]) -> None:
        """Journal the race's result at each look, until this run is out or has won; without a race, return at once.

        Args:
            wake: called after each look, as more rollouts may start.
        """
        race = self._race
        while race is not None and not self._is_ending() and not race.is_over:
            for look in race.new_looks(self._fold.looks):
                self._append(Looked(at=time.time(), look=look))
                self._looks.judge(look)
                if look.decision:
                    self._end("decided", self._looks.words)
                wake()
            if self.waits_for_rivals and (gone := race.gone()):
                self._end("halted", f"{gone}; `eval-console resume {self._folder.name}` continues the race")
            await asyncio.sleep(race.poll_s)

    @property
    def waits_for_rivals(self) -> bool:
        """True if nothing may start before the other runs of a race catch up."""
        if self._race is None or self._race.is_over:
            return False
        if not len(self._queue):
            return any(look.is_last for look in self._fold.looks)
        return self._queue.has_only_held(self._race.may_start)

    @property
    def waiting_words(self) -> str:
        """Name the runs of the race that this one waits for; empty if it waits for none."""
        return f"waits for {self._race.behind}" if self._race is not None and self.waits_for_rivals else ""

    def may_start(self, at_once: int) -> Callable[[Slot], bool] | None:
        """Return a function that returns whether a rollout may start, if the run may end early; otherwise None.

        Args:
            at_once: number of conversations in flight.
        """
        if self._race is not None:
            return self._race.may_start
        return (lambda slot: self._looks.may_start(slot, at_once)) if self._looks.may_end_run else None

    def _drop_decided(self) -> None:
        """Drop the remaining rollouts of decided categories."""
        if self._looks.decided_categories:
            self._queue.drop_categories(self._looks.decided_categories)
