"""Archived journals: read as before at any offset, smaller, and never lost, wherever a kill comes."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from support.recorded_runs import plain_run

from console.core.fault import UsageError
from console.core.record import Opened
from console.store import journal_file
from console.store.journal import JournalReader, JournalWriter, checksum_of
from console.store.journal_file import archived_path, journal_status, open_journal, read_span
from console.store.journal_index import JournalIndex
from console.store.lock import RunLock
from console.store.run_archive import archive_run, restore_run
from console.store.run_changes import RunChanges
from console.store.run_list import find_run
from console.store.runs import RunFolder
from console.store.search import conversations_with


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return plain_run(tmp_path).folder


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 10_000])
def test_every_span_is_read_as_from_the_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(journal_file, "_BLOCK", 4096)
    path, random = tmp_path / "journal.jsonl", Random(size)
    data = bytes(random.choices(b"abc\n", k=size))
    path.write_bytes(data)
    os.utime(path, ns=(1, 123_456_789))
    before = journal_status(path)
    journal_file.archive_journal(path)
    assert not path.exists()
    assert journal_status(path) == before == (size, 123_456_789)
    assert gzip.decompress(archived_path(path).read_bytes()) == data
    with open_journal(path) as file:
        for _ in range(200):
            start, length = random.randrange(size + 5), random.randrange(6000)
            assert read_span(file, start, length) == data[start : start + length]
    journal_file.unpack_journal(path)
    assert (path.read_bytes(), journal_status(path)) == (data, before)
    assert not archived_path(path).exists()


def test_everything_derived_from_a_journal_stays_valid(run: RunFolder) -> None:
    size = run.journal_path.stat().st_size
    index = JournalIndex(run.journal_path)
    records, found = index.read_new(), conversations_with(run.journal_path, ["imperial"])
    index.save(run.index_path, 1, b"mine")
    summary, whole, changes = run.summary(), checksum_of(run.journal_path, size), RunChanges(run.path.parent)
    archive_run(run)
    assert run.is_archived
    assert archived_path(run.journal_path).stat().st_size < size / 4
    again = JournalIndex(run.journal_path)
    assert again.restore_saved(run.index_path, 1, bytes, live=False) == b"mine"
    assert list(map(again.read, again.keys())) == list(map(index.read, index.keys()))
    assert JournalReader(run.journal_path).read_new() == records
    assert (checksum_of(run.journal_path, size), conversations_with(run.journal_path, ["imperial"])) == (whole, found)
    now = run.summary()
    assert now.archived
    now.archived = False
    assert now == summary
    assert [changed.name for changed in changes.poll().runs] == [run.name]
    restore_run(run)
    assert run.summary() == summary


def test_a_writer_continues_an_archived_journal(run: RunFolder) -> None:
    before = JournalReader(run.journal_path).read_new()
    archive_run(run)
    writer = JournalWriter(run.journal_path)
    writer.append(Opened(at=9e9, pid=1))
    writer.close()
    assert JournalReader(run.journal_path).read_new() == [*before, Opened(at=9e9, pid=1)]
    assert not run.is_archived
    assert not archived_path(run.journal_path).exists()


def test_a_run_that_is_played_or_was_never_played_is_not_archived(run: RunFolder) -> None:
    with RunLock(run.lock_path), pytest.raises(UsageError, match="already open in process"):
        archive_run(run)
    run.journal_path.unlink()
    with pytest.raises(UsageError, match="never played"):
        archive_run(run)


def test_a_damaged_archive_is_refused_and_kept(run: RunFolder) -> None:
    archive_run(run)
    archive = archived_path(run.journal_path)
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    with pytest.raises(UsageError, match="damaged"):
        JournalReader(run.journal_path).read_new()
    with pytest.raises(UsageError, match="damaged"):
        restore_run(run)
    assert archive.read_bytes() == data


def test_an_archive_that_is_cut_anywhere_is_damaged(run: RunFolder) -> None:
    archive_run(run)
    archive = archived_path(run.journal_path)
    data = archive.read_bytes()
    for length in range(1, len(data), 97):
        archive.write_bytes(data[:length])
        with pytest.raises(UsageError, match=r"truncated|damaged"):
            JournalReader(run.journal_path).read_new()


KILLED = """
import os, signal, sys
from pathlib import Path
from console.store import journal_file
path, step, wanted = Path(sys.argv[1]), 0, int(sys.argv[2])

def counted(name, act):
    def call(*arguments, **options):
        global step
        step += 1
        if step == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments, **options)
    return call

for owner, name in ((os, "open"), (os, "fsync"), (os, "utime"), (os, "pread"), (Path, "replace"), (Path, "unlink")):
    setattr(owner, name, counted(name, getattr(owner, name)))
for owner, name in ((journal_file, "sync_file"), (journal_file, "sync_folder")):
    setattr(owner, name, counted(name, getattr(owner, name)))
getattr(journal_file, sys.argv[3])(path)
"""


@pytest.mark.parametrize("act", ["archive_journal", "unpack_journal"])
def test_a_kill_at_any_step_loses_nothing(run: RunFolder, act: str) -> None:
    before = JournalReader(run.journal_path).read_new()
    for step in range(1, 40):
        restore_run(run)
        if act == "unpack_journal":
            archive_run(run)
        command = [sys.executable, "-c", KILLED, str(run.journal_path), str(step), act]
        ended = subprocess.run(command, check=False).returncode
        assert JournalReader(run.journal_path).read_new() == before
        if ended == 0:
            assert step > 5, "no step was killed"
            return
        assert ended == -signal.SIGKILL
    raise AssertionError("it never came to its end")


def test_the_latest_run_is_not_an_archived_one(run: RunFolder) -> None:
    root = run.path.parent
    assert find_run(root, "latest").name == run.name
    archive_run(run)
    with pytest.raises(UsageError, match="no run is named 'latest'"):
        find_run(root, "latest")
    restore_run(run)
    assert find_run(root, "latest").name == run.name
