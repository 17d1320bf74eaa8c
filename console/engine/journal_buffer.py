"""The engine's side of the journal: order, durability, and patience with a disk that refuses.

Every record goes through `append`. When the disk refuses a record or does not confirm a sync, records wait in memory in
order, the run is paused by whoever watches `is_blocked`, and it is tried again; nothing is dropped and nothing is
written twice. A journal that was deleted cannot come back: the run waits, and ends by itself after a while.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from console.core.fault import Fault, FaultKind
from console.core.record import CLOCK, AnyRecord, Closed, Finished, Steered
from console.core.tally import RunFold, without_output
from console.store.journal import JournalWriter

ResultT = TypeVar("ResultT")
RETRY_S = 2.0
LOOK_EVERY_S = 2.0
"""How often it is checked that the journal is still there."""
HELD_AFTER_DELETION_S = 900.0
"""How long a run waits whose journal was deleted, for somebody to see why; then it ends."""
SET_S = 10.0
"""The clock was set, or the machine slept, when it moved this much against the monotonic one between two records."""
UNSYNCED_BYTES = 1 << 20
"""A journal is synced when a case has finished, or when so much was written since the last time."""


class JournalBuffer:
    """Appends records, folds them into the run's counts, and syncs in the background."""

    def __init__(
        self,
        journal: JournalWriter,
        fold: RunFold,
        on_change: Callable[[], None],
        notify: Callable[[str], None],
        on_loss: Callable[[str], None] = lambda message: None,
        successor: Callable[[], str] = str,
    ) -> None:
        """Wrap an open journal.

        Args:
            journal: the journal.
            fold: knows the records in it already.
            on_change: called when records were taken, and when more is durable or the disk refuses.
            notify: called when the disk refuses, and when it takes records again.
            on_loss: called with why the run cannot continue: the journal was deleted and nobody has ended the run, or
                another engine has taken it over.
            successor: asked who that is.
        """
        self.journal = journal
        self.fold = fold
        self.blocked_by: Fault | None = None
        self.is_lost = False
        """Whether the journal was deleted, so that waiting is of no use."""
        self._on_change, self._notify, self._on_loss, self._successor = on_change, notify, on_loss, successor
        self._backlog: deque[AnyRecord] = deque()
        self._ending: list[AnyRecord] = []
        """The record of the end, once it is written, and what came after it."""
        self._offset = _clock_offset()
        self._beside = _start_thread()
        """The one thread that all waiting for the disk is done in; None: the system grants none, and the loop waits."""
        if self._beside is None:
            notify("the system grants no further thread: the run goes on and waits for the disk between two calls")
        self._dirty = asyncio.Event()
        self._retry: asyncio.Task[None] | None = None
        self._syncer = asyncio.create_task(self._sync_forever(), name="journal sync")
        self._watcher = asyncio.create_task(self._watch(), name="journal watch")
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
        if self.blocked_by is None and (fault := self._drain()) is not None:
            self._block(fault)
        self._on_change()

    def _block(self, fault: Fault, consequence: str = ": the run waits and keeps what is finished") -> None:
        """Let all further records wait, and try again until the disk takes them."""
        if self.blocked_by is None or self.is_lost:
            self._notify(f"{fault.message}{consequence}")
        if self.blocked_by is None:
            self.unblocked.clear()
            self._retry = asyncio.create_task(self._write_again(), name="journal retry")
        self.blocked_by = fault
        self._on_change()

    def _drain(self) -> Fault | None:
        """Write waiting records in order; return what stopped it, if something did.

        Raises:
            TypeError, ValueError, RecursionError: a record has no form on disk; it is dropped and blocks no other.
        """
        try:
            while self._backlog:
                self.journal.append(self._backlog[0])
                record = self._backlog.popleft()
                if isinstance(record, Closed) or self._ending:
                    self._ending.append(record)
                if isinstance(record, Finished) or self.journal.unsynced_bytes > UNSYNCED_BYTES:
                    self._dirty.set()
        except Fault as fault:
            return fault
        except (TypeError, ValueError, RecursionError):
            self._backlog.popleft()
            raise
        return None

    async def _write_again(self) -> None:
        while self.blocked_by is not None:
            await asyncio.sleep(RETRY_S)
            if self.is_lost:
                return
            held = self.held
            fault = await self._recover()
            if self.is_lost:
                return
            self.blocked_by = fault
            if fault is None:
                self._notify(f"the disk takes records again; {held} waiting ones are written")
        self.unblocked.set()
        self._on_change()

    async def _recover(self) -> Fault | None:
        """Make durable what is unconfirmed, then write what is waiting; return what stopped it, if something did."""
        if self.journal.is_unconfirmed and (fault := await self._sync()) is not None:
            return fault
        return self._drain()

    async def _sync_forever(self) -> None:
        """Sync once for all cases that finished since the last sync, off the event loop."""
        while True:
            await self._dirty.wait()
            await self.unblocked.wait()  # while the disk refuses, it is tried again now and then, by `_write_again`
            self._dirty.clear()
            fault = await self._sync()
            if fault is not None and not self.is_lost:
                self._block(fault)
            self._on_change()

    async def _sync(self) -> Fault | None:
        try:
            await self._run_beside(self.journal.sync)
        except Fault as fault:
            return fault
        return None

    async def _run_beside(self, action: Callable[[], ResultT]) -> ResultT:
        if self._beside is None:
            return action()
        return await asyncio.get_running_loop().run_in_executor(self._beside, action)

    async def _watch(self) -> None:
        """Notice when the journal is deleted, or another engine writes it: nothing of this process counts any more."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if successor := await self._run_beside(self._successor):
                self.is_lost = True
                self._block(Fault(FaultKind.DISK, f"{successor} has taken the run over, and its records alone count"))
                self._on_loss(f"{successor} has taken the run over")
                return
            if await self._run_beside(lambda: self.journal.is_deleted):
                break
        self.is_lost = True
        fault = _deletion(self.journal)
        self._block(fault, f": the run is paused. {fault.hint}")
        await asyncio.sleep(HELD_AFTER_DELETION_S)
        self._on_loss(fault.message)

    def sync_soon(self) -> None:
        """Sync without waiting for a case to finish; `on_change` is called when that is done."""
        self._dirty.set()

    @property
    def is_durable(self) -> bool:
        """Whether every record is on the disk, as far as that says."""
        return not self._backlog and self.blocked_by is None and self.journal.is_synced

    @property
    def held(self) -> int:
        """How many records wait for the disk."""
        return len(self._backlog)

    @property
    def why(self) -> str:
        """What watchers see; empty while the disk takes records."""
        records = "record" if self.held == 1 else "records"
        return f"{self.blocked_by.message}; {self.held} {records} waiting" if self.blocked_by else ""

    async def close(self) -> None:
        """Write what can be written and close. A run whose end is not durable is left without one, to be resumed.

        Raises:
            Fault: records could not be written, or are not known to be on the disk (kind `disk`).
        """
        for task in (self._syncer, self._retry, self._watcher):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        unsynced = await self._sync_rest()
        blocked = self.blocked_by if self.is_lost else self._drain()
        unsynced = unsynced or await self._sync_rest()
        with contextlib.suppress(Fault):  # it is the one above
            await self._run_beside(self.journal.close)
        if self._beside is not None:
            self._beside.shutdown(wait=False)
        if (fault := blocked or unsynced) is not None:
            raise fault

    async def _sync_rest(self) -> Fault | None:
        """Sync what is not synced; when that fails, take the record of the end back: the run has none then."""
        fault = None if self.journal.is_synced else await self._sync()
        if fault is not None:
            while self._ending and self.journal.retract(self._ending.pop()):
                pass
            self._backlog = deque(record for record in self._backlog if not isinstance(record, Closed))
        return fault


def _start_thread() -> ThreadPoolExecutor | None:
    """Return one thread that has been started, so that it cannot be refused when a record must become durable."""
    executor = ThreadPoolExecutor(1, "journal")
    try:
        executor.submit(int)
    except RuntimeError:  # can't start new thread
        return None
    return executor


def _deletion(journal: JournalWriter) -> Fault:
    return Fault(
        FaultKind.DISK,
        f"the run's folder or its journal was deleted ({journal.path})",
        hint="Nothing can be kept of it any more; stop it and start it anew.",
    )


def _clock_offset() -> float:
    """How far the wall clock is ahead of the monotonic one."""
    return time.time() - time.monotonic()
