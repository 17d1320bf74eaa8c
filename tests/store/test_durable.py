"""What makes data durable: another call on macOS, made exactly as often as on Linux."""

import asyncio
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.core.case import Key
from console.core.fault import Fault
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.core.tally import RunFold
from console.engine.journal_buffer import JournalBuffer
from console.store import durable
from console.store.atomic import make_private_folder, write_atomically
from console.store.journal import JournalReader, JournalWriter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which file a descriptor is")
FULL = 51
Call = Callable[[int], None]


def on_mac(monkeypatch: pytest.MonkeyPatch, full_sync: Call) -> None:
    """Let the module find itself on macOS, where data are synced by this function."""

    def fcntl(fd: int, command: int) -> int:
        assert command == FULL
        full_sync(fd)
        return 0

    monkeypatch.setattr(durable, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(durable, "fcntl", SimpleNamespace(fcntl=fcntl, F_FULLFSYNC=FULL))
    monkeypatch.delattr(os, "fdatasync")


def syncs_by(system: str, monkeypatch: pytest.MonkeyPatch, also: Call = lambda fd: None) -> list[str]:
    """Note the name of each file that is synced; `also` is called before."""
    synced, fsync = list[str](), os.fsync

    def sync(fd: int) -> None:
        also(fd)
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", sync)
    if system == "darwin":
        on_mac(monkeypatch, sync)
    else:
        monkeypatch.setattr(os, "fdatasync", sync)
    return synced


def finished(number: int) -> Finished:
    return Finished(at=1.0, key=Key(str(number)), verdict=Verdict(Outcome.PASSED))


@pytest.mark.parametrize("system", ["linux", "darwin"])
async def test_all_cases_finished_during_a_sync_share_the_next(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def wait(_: int) -> None:
        begun.set()
        assert may_go_on.wait(60)

    journal = JournalWriter(tmp_path / "journal.jsonl")
    synced = syncs_by(system, monkeypatch, wait)
    durable_again = asyncio.Event()
    buffer = JournalBuffer(journal, RunFold(), durable_again.set, lambda text: None)
    buffer.append(finished(0))
    await asyncio.to_thread(begun.wait, 60)
    for number in range(1, 100):
        buffer.append(finished(number))
    may_go_on.set()
    async with asyncio.timeout(60):
        while not buffer.is_durable:
            durable_again.clear()
            await durable_again.wait()
        await buffer.close()
    assert synced == ["journal.jsonl"] * 2
    assert len(JournalReader(tmp_path / "journal.jsonl").read_new()) == 100


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_new_file_and_a_new_folder_cost_the_same(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = syncs_by(system, monkeypatch)
    make_private_folder(tmp_path / "run")
    write_atomically(tmp_path / "run" / "run.json", b"{}")
    write_atomically(tmp_path / "run" / "summary.json", b"{}", is_derived=True)
    temporary = synced.pop(1)
    assert synced == [tmp_path.name, "run"]
    assert temporary.startswith(".run.json.")


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.EINVAL, errno.ENOTTY])
def test_a_file_system_without_the_full_sync_gets_the_usual_one(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = syncs_by("linux", monkeypatch)
    journal = JournalWriter(tmp_path / "journal.jsonl")
    synced.clear()

    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    on_mac(monkeypatch, refuse)
    journal.append(finished(0))
    journal.sync()
    assert journal.is_synced
    assert synced == ["journal.jsonl"]


def test_a_disk_that_fails_the_full_sync_confirms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl")
    synced = syncs_by("linux", monkeypatch)

    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    on_mac(monkeypatch, fail)
    journal.append(finished(0))
    with pytest.raises(Fault, match="does not confirm"):
        journal.sync()
    assert synced == []
    assert journal.is_unconfirmed


def test_a_sync_that_fails_in_any_way_is_made_good_by_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = JournalWriter(path)
    journal.append(finished(0))
    with monkeypatch.context() as patch:
        patch.delattr(os, "fdatasync")
        with pytest.raises(AttributeError):
            journal.sync()
    written: list[Any] = []
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, place: written.append(data) or pwrite(fd, data, place))
    again = JournalWriter(path)
    assert again.is_unconfirmed
    again.close()
    assert written == [path.read_bytes()]
    assert not JournalWriter(path).is_unconfirmed
