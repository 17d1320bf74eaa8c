"""The engine's side of the journal: order, durability, and patience with a full disk.

Every record goes through `append`. When the disk refuses, records wait in memory in order, the run is paused by whoever
watches `is_blocked`, and writing is tried again; nothing is dropped and nothing is written twice.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable

from console.core.fault import Fault
from console.core.record import CLOCK, AnyRecord, Finished, Steered
from console.core.tally import RunFold, without_output
from console.store.journal import JournalWriter

RETRY_S = 2.0
SET_S = 10.0
"""The clock was set, or the machine slept, when it moved this much against the monotonic one between two records."""


class JournalBuffer:
    """Appends records, folds them into the run's counts, and syncs in the background."""

    def __init__(
        self, journal: JournalWriter, fold: RunFold, on_grow: Callable[[], None], say: Callable[[str], None]
    ) -> None:
        """Wrap an open journal; `fold` already knows the records in it; `say` is told when the disk refuses."""
        self.journal = journal
        self.fold = fold
        self.blocked_by: Fault | None = None
        self._on_grow, self._say = on_grow, say
        self._backlog: deque[AnyRecord] = deque()
        self._offset = _clock_offset()
        self._dirty = asyncio.Event()
        self._retry: asyncio.Task[None] | None = None
        self._syncer = asyncio.create_task(self._sync_forever(), name="journal sync")
        self.unblocked = asyncio.Event()
        self.unblocked.set()

    def append(self, record: AnyRecord) -> None:
        """Write a record, or hold it while the disk refuses; a clock that was set since the last one is noted first."""
        offset = _clock_offset()
        moved, self._offset = offset - self._offset, offset
        if abs(moved) > SET_S:
            self._append(Steered(at=record.at, what=CLOCK, value=f"{moved:+.0f}"))
        self._append(record)

    def _append(self, record: AnyRecord) -> None:
        self.fold.apply(without_output(record))
        self._backlog.append(record)
        if self.blocked_by is None:
            self.blocked_by = self._drain()
            if self.blocked_by is not None:
                self._say(f"{self.blocked_by.message}: the run waits and keeps what is finished")
                self.unblocked.clear()
                self._retry = asyncio.create_task(self._write_again(), name="journal retry")
        self._on_grow()

    def _drain(self) -> Fault | None:
        """Write held records in order; return what stopped it, if something did."""
        try:
            while self._backlog:
                self.journal.append(self._backlog[0])
                if isinstance(self._backlog.popleft(), Finished):
                    self._dirty.set()
        except Fault as fault:
            return fault
        return None

    async def _write_again(self) -> None:
        while self.blocked_by is not None:
            await asyncio.sleep(RETRY_S)
            held = self.held
            self.blocked_by = self._drain()
            if self.blocked_by is None:
                self._say(f"the disk takes records again, {held} held ones are written")
        self.unblocked.set()
        self._on_grow()

    async def _sync_forever(self) -> None:
        """Sync once for all cases that finished since the last sync, off the event loop."""
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            with contextlib.suppress(Fault):
                await asyncio.to_thread(self.journal.sync)

    @property
    def held(self) -> int:
        """How many records wait for the disk."""
        return len(self._backlog)

    @property
    def why(self) -> str:
        """What watchers are told; empty while the disk takes records."""
        return f"{self.blocked_by.message}; {self.held} records held" if self.blocked_by else ""

    async def close(self) -> None:
        """Write what can be written and close.

        Raises:
            Fault: records could not be written (kind `disk`).
        """
        for task in (self._syncer, self._retry):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        blocked = self._drain()
        self.journal.close()
        if blocked is not None:
            raise blocked


def _clock_offset() -> float:
    """How far the wall clock is ahead of the monotonic one."""
    return time.time() - time.monotonic()
