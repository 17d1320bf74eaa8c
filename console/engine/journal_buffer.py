"""The engine's side of the journal: order, durability, and retries when the disk fails.

Every record goes through `append`. When the disk refuses a record or does not confirm a sync, records wait in memory in
order, the engine pauses the run (see `blocked_by`), and writing is retried; nothing is dropped and nothing is written
twice. After its journal is deleted, the run waits for a while and then ends. If another program shortens or extends the
journal, the run ends at once, as lost records can only be played again.
"""

import asyncio
import contextlib
import errno
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from console.core.fault import Fault, FaultKind
from console.core.record import CLOCK, AnyRecord, Closed, Finished, Steered
from console.core.tally import RunFold, without_output
from console.engine.background import start_task, stop
from console.store.journal import JournalWriter

_HELD = ": the run waits and keeps finished records in memory"
ResultT = TypeVar("ResultT")
RETRY_S = 2.0
LOOK_EVERY_S = 2.0
"""Seconds between checks that the journal still exists."""
HELD_AFTER_DELETION_S = 900.0
"""Seconds a run waits after its journal was deleted, so that the user can see why it ends."""
SET_S = 10.0
"""Minimum gap in seconds between wall and monotonic clock: the clock was set, or the machine slept."""
UNSYNCED_BYTES = 1 << 20
"""Number of bytes after which a journal is synced, in addition to the sync after each case."""


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
        *,
        is_graded_again: bool = False,
    ) -> None:
        """Wrap an open journal.

        Args:
            journal: the journal.
            fold: counts that already include the journal's records.
            on_change: called when records were written, more is durable, or the disk fails.
            notify: called with a sentence when the disk fails, and when it accepts records again.
            on_loss: called with the reason why the run cannot continue: its journal was deleted and the user did not
                end it, another program has written to it, or another engine has taken it over.
            successor: returns the name of the engine that has taken over, or an empty string.
            is_graded_again: True if the answers come from another run: a grade without a call can be repeated for free,
                so it is synced only with the next paid record or the last one.
        """
        self.journal = journal
        self.fold = fold
        self.blocked_by: Fault | None = None
        self.is_lost = False
        """True if the journal is permanently gone, so that waiting is useless."""
        self._on_change, self._notify, self._on_loss, self._successor = on_change, notify, on_loss, successor
        self._is_graded_again = is_graded_again
        self._backlog: deque[AnyRecord] = deque()
        self._ending: list[AnyRecord] = []
        """The `Closed` record, once written, and any records after it."""
        self._offset = _clock_offset()
        self._thread = _start_thread()
        """The only thread that waits for the disk; None if the system refuses one, and the event loop waits."""
        if self._thread is None:
            notify("no thread can be started: the run continues, but each sync blocks it briefly")
        self._dirty = asyncio.Event()
        self._retry: asyncio.Task[None] | None = None
        self._syncer = start_task(self._sync_forever(), "journal sync")
        self._watcher = start_task(self._watch(), "journal watch")
        self.unblocked = asyncio.Event()
        self.unblocked.set()

    def append(self, record: AnyRecord) -> None:
        """Write a record, or queue it while the disk fails; a jump of the clock is recorded first."""
        offset = _clock_offset()
        moved, self._offset = offset - self._offset, offset
        if abs(moved) > SET_S:
            self._append(Steered(at=record.at, what=CLOCK, value=f"{moved:+.0f}"))
        self._append(record)

    def _append(self, record: AnyRecord) -> None:
        self.fold.apply(without_output(record))
        self._backlog.append(record)
        if self.blocked_by is None and (fault := self._drain()) is not None:
            self._block(fault, ": the run ends" if self.is_lost else _HELD)
        self._on_change()

    def _block(self, fault: Fault, consequence: str = _HELD) -> None:
        """Queue all further records, and retry until the disk accepts them."""
        if self.blocked_by is None or self.is_lost:
            self._notify(f"{fault.message}{consequence}")
        if self.blocked_by is None:
            self.unblocked.clear()
            self._retry = start_task(self._write_again(), "journal retry")
        self.blocked_by = fault
        self._on_change()

    def _drain(self) -> Fault | None:
        """Write queued records in order; return the fault that stopped it, or None.

        Raises:
            TypeError, ValueError, RecursionError: a record cannot be serialized; it is dropped and blocks no other.
        """
        try:
            while self._backlog:
                if self.journal.is_altered:
                    return self._lose(_altered(self.journal))
                self.journal.append(self._backlog[0])
                record = self._backlog.popleft()
                if isinstance(record, Closed) or self._ending:
                    self._ending.append(record)
                is_paid = isinstance(record, Finished) and (record.calls or not self._is_graded_again)
                if is_paid or self.journal.unsynced_bytes > UNSYNCED_BYTES:
                    self._dirty.set()
        except Fault as fault:
            is_limited = isinstance(fault.__cause__, OSError) and fault.__cause__.errno == errno.EFBIG
            return self._lose(_too_large(fault)) if is_limited else fault
        except (TypeError, ValueError, RecursionError):
            self._backlog.popleft()
            raise
        return None

    def _lose(self, fault: Fault) -> Fault:
        self.is_lost = True
        self._on_loss(fault.advice)
        return fault

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
                self._notify(f"the disk accepts records again; {held} waiting ones are written")
        self.unblocked.set()
        self._on_change()

    async def _recover(self) -> Fault | None:
        """Sync unconfirmed data, then write queued records; return the fault that interrupted this, or None."""
        if self.journal.is_unconfirmed and (fault := await self._sync()) is not None:
            return fault
        return self._drain()

    async def _sync_forever(self) -> None:
        """Sync once for all cases finished since the last sync, off the event loop."""
        while True:
            await self._dirty.wait()
            await self.unblocked.wait()  # while the disk fails, `_write_again` retries
            self._dirty.clear()
            fault = await self._sync()
            if fault is not None and not self.is_lost:
                self._block(fault)
            self._on_change()

    async def _sync(self) -> Fault | None:
        try:
            await self._run_in_thread(self.journal.sync)
        except Fault as fault:
            return fault
        return None

    async def _run_in_thread(self, action: Callable[[], ResultT]) -> ResultT:
        if self._thread is None:
            return action()
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)

    async def _watch(self) -> None:
        """Detect that the journal was deleted, or that another engine writes it and this one no longer counts."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if successor := await self._run_in_thread(self._successor):
                self.is_lost = True
                self._block(Fault(FaultKind.DISK, f"{successor} has taken over the run; only its records count"))
                self._on_loss(f"{successor} has taken the run over")
                return
            if await self._run_in_thread(lambda: self.journal.is_deleted):
                break
        self.is_lost = True
        fault = _deletion(self.journal)
        self._block(fault, f": the run is paused. {fault.hint}")
        await asyncio.sleep(HELD_AFTER_DELETION_S)
        self._on_loss(fault.message)

    def sync_soon(self) -> None:
        """Sync without waiting for a case to finish; `on_change` is called afterwards."""
        self._dirty.set()

    @property
    def is_durable(self) -> bool:
        """True if every record has been confirmed by the disk."""
        return not self._backlog and self.blocked_by is None and self.journal.is_synced

    @property
    def held(self) -> int:
        """Number of records waiting for the disk."""
        return len(self._backlog)

    @property
    def why(self) -> str:
        """Message for watchers; empty while the disk accepts records."""
        records = "record" if self.held == 1 else "records"
        return f"{self.blocked_by.message}; {self.held} {records} waiting" if self.blocked_by else ""

    async def close(self) -> None:
        """Write what can be written and close. If the final records are not durable, the run stays resumable.

        Raises:
            Fault: records could not be written, or are not confirmed by the disk (kind `disk`).
        """
        await stop(self._syncer, self._retry, self._watcher)
        try:
            unsynced = await self._sync_rest()
            blocked = self.blocked_by if self.is_lost else self._drain()
            if blocked is None and self.journal.is_altered:
                blocked = self._lose(_altered(self.journal))
            unsynced = unsynced or await self._sync_rest()
        finally:
            with contextlib.suppress(Fault):  # same as `unsynced`
                await self._run_in_thread(self.journal.close)
            if self._thread is not None:
                self._thread.shutdown(wait=False)
        if (fault := blocked or unsynced) is not None:
            raise fault

    async def _sync_rest(self) -> Fault | None:
        """Sync the remaining records; if that fails, retract the `Closed` record, so that the run can be resumed."""
        fault = None if self.journal.is_synced else await self._sync()
        if fault is not None:
            while self._ending and self.journal.retract(self._ending.pop()):
                pass
            self._backlog = deque(record for record in self._backlog if not isinstance(record, Closed))
        return fault


def _start_thread() -> ThreadPoolExecutor | None:
    """Start the thread now, so that it cannot be refused when a record must become durable."""
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
        hint="Its results can no longer be saved; stop it and start a new run.",
    )


def _clock_offset() -> float:
    """Return the seconds by which the wall clock is ahead of the monotonic one."""
    return time.time() - time.monotonic()


def _altered(journal: JournalWriter) -> Fault:
    return Fault(
        FaultKind.DISK,
        f"the run's journal was changed by another program during the run ({journal.path})",
        hint="`eval-console resume` plays what is missing.",
    )


def _too_large(fault: Fault) -> Fault:
    """Return the fault for the limit on file size, which, unlike a full disk, is permanent."""
    hint = "Raise the limit of file sizes (`ulimit -f`), or move the run; then `eval-console resume` continues it."
    return Fault(FaultKind.DISK, fault.message, hint=hint)
