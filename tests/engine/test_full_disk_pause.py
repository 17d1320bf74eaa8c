"""A full disk pauses the engine and loses nothing."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from console.core.case import Key
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Finished, Noted
from console.core.tally import RunFold
from console.engine import journal_buffer as ledger_module
from console.engine.journal_buffer import JournalBuffer
from console.store.journal import JournalReader, JournalWriter


class FullJournal(JournalWriter):
    """A journal on a disk that is full for a while."""

    full = False

    def append(self, record: AnyRecord) -> int:
        if self.full:
            raise Fault(FaultKind.DISK, "cannot write journal.jsonl: No space left on device")
        return super().append(record)


def noted(n: int) -> Noted:
    return Noted(at=float(n), key=Key("a"), kind="k", data=n)


async def test_records_wait_in_order_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "RETRY_S", 0.01)
    journal = FullJournal(tmp_path / "journal.jsonl")
    said: list[str] = []
    ledger = JournalBuffer(journal, RunFold(), lambda: None, said.append)
    ledger.append(noted(0))
    journal.full = True
    for n in (1, 2, 3):
        ledger.append(noted(n))
    assert ledger.blocked_by is not None
    assert ledger.held == 3
    assert not ledger.unblocked.is_set()
    journal.full = False
    await asyncio.wait_for(ledger.unblocked.wait(), 60)
    assert ["No space left" in said[0], "3 waiting ones are written" in said[1]] == [True, True]
    ledger.append(noted(4))
    await ledger.close()
    assert [record.data for record in JournalReader(journal.path).read_new() if isinstance(record, Noted)] == [
        0,
        1,
        2,
        3,
        4,
    ]


async def test_a_disk_that_stays_full_is_said_in_the_end(tmp_path: Path) -> None:
    journal = FullJournal(tmp_path / "journal.jsonl")
    ledger = JournalBuffer(journal, RunFold(), lambda: None, lambda text: None)
    journal.full = True
    ledger.append(noted(1))
    with pytest.raises(Fault, match="No space"):
        await ledger.close()


async def test_a_disk_that_syncs_slowly_delays_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one sync hangs, a hundred cases finish and are in the file; one further sync does for all of them."""
    hanging, release, synced = asyncio.Event(), threading.Event(), list[int]()
    loop, fdatasync = asyncio.get_running_loop(), os.fdatasync

    def slow(fd: int) -> None:
        synced.append(os.fstat(fd).st_size)
        loop.call_soon_threadsafe(hanging.set)
        assert release.wait(60)
        fdatasync(fd)

    monkeypatch.setattr(os, "fdatasync", slow)
    journal = JournalWriter(tmp_path / "journal.jsonl")
    ledger = JournalBuffer(journal, RunFold(), lambda: None, lambda text: None)
    ended = [Finished(at=float(n), key=Key(f"c{n}"), verdict=Verdict(Outcome.PASSED)) for n in range(101)]
    ledger.append(ended[0])
    await asyncio.wait_for(hanging.wait(), 60)
    for record in ended[1:]:
        ledger.append(record)
        await asyncio.sleep(0)
    assert JournalReader(journal.path).read_new() == ended
    assert len(synced) == 1
    release.set()
    async with asyncio.timeout(60):
        while not journal.is_synced:  # noqa: ASYNC110  the thread that syncs has no event
            await asyncio.sleep(0.001)
    assert len(synced) == 2
    assert synced[1] == journal.size
    await ledger.close()


async def test_a_disk_that_confirms_nothing_is_not_asked_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine asks for a sync at every change, and a refusal is one; it is tried again now and then only."""
    monkeypatch.setattr(ledger_module, "RETRY_S", 3600.0)
    synced: list[int] = []

    def refuse(fd: int) -> None:
        synced.append(fd)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fdatasync", refuse)
    blocked = asyncio.Event()

    def changed() -> None:
        ledger.sync_soon()
        if ledger.blocked_by is not None:
            blocked.set()

    ledger = JournalBuffer(JournalWriter(tmp_path / "journal.jsonl"), RunFold(), changed, lambda text: None)
    ledger.append(Finished(at=1.0, key=Key("c"), verdict=Verdict(Outcome.PASSED)))
    await asyncio.wait_for(blocked.wait(), 60)
    for _ in range(20):  # a round of the loop, and one by way of another thread
        await asyncio.to_thread(lambda: None)
    assert len(synced) == 1
    with pytest.raises(Fault, match="does not confirm"):
        await ledger.close()


async def test_grades_that_cost_no_call_are_synced_with_one_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They can be given again for nothing, as answers of another run are graded."""
    synced, fdatasync = list[int](), os.fdatasync

    def count(fd: int) -> None:
        synced.append(os.fstat(fd).st_size)
        fdatasync(fd)

    monkeypatch.setattr(os, "fdatasync", count)
    journal, changed = JournalWriter(tmp_path / "journal.jsonl"), asyncio.Event()
    ledger = JournalBuffer(journal, RunFold(), changed.set, lambda text: None, is_graded_again=True)
    for n in range(10):
        ledger.append(Finished(at=float(n), key=Key(f"c{n}"), verdict=Verdict(Outcome.PASSED)))
        await asyncio.to_thread(lambda: None)
    assert (synced, JournalReader(journal.path).read_new()[-1].at) == ([], 9.0)
    ledger.append(Finished(at=10.0, key=Key("c10"), verdict=Verdict(Outcome.PASSED), calls=1))
    async with asyncio.timeout(60):
        while not ledger.is_durable:
            changed.clear()
            await changed.wait()
    assert synced == [journal.size]
    await ledger.close()
