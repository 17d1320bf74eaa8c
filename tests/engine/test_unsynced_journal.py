"""A disk that does not confirm a sync: nothing counts as kept until a later sync has written it again."""

import asyncio
import contextlib
import errno
import os
import shutil
import threading
from pathlib import Path

import pytest
from engine.test_engine import Answer, Script, always_right, ended, new_engine, records, right, script, until
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from support.dialogue_suite import DialogueSuite
from support.power_cut_disk import PowerCutDisk, accept, times

from console.core.case import Key
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.live import Command
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Closed, Finished
from console.core.run import Budget
from console.engine import journal_buffer
from console.llm.endpoint import Watch
from console.store.journal import JournalReader, JournalWriter
from console.store.runs import RunFolder

__all__ = ["script"]

JOURNAL = "journal.jsonl"
SUITE = DialogueSuite(4, 2, judged=False)
SYNCS = 4
"""So many syncs a run has at least whose cases are played one by one, each after the last one was synced."""


def finished(case: str) -> Finished:
    return Finished(at=1.0, key=Key(case), verdict=Verdict(Outcome.PASSED), output="x" * 500)


def one_by_one(disk: PowerCutDisk) -> Answer:
    """Answer right, and begin no case before a sync was tried for each of those before it."""

    async def answer(text: str, request: ChatRequest, watch: Watch) -> Reply:
        number = int(text.removeprefix("d").partition("-")[0])
        await until(lambda: disk.counts["fdatasync", "journal.jsonl"] >= number)
        return right(text)

    return answer


def left_by(disk: PowerCutDisk, run: RunFolder) -> list[AnyRecord]:
    """What a power cut would leave of a run, all of it readable."""
    copied = run.path.with_name("after-power-cut.jsonl")
    copied.write_bytes(disk.after_power_cut(run.journal_path))
    reader = JournalReader(copied)
    left = reader.read_new()
    assert reader.damages == []
    assert reader.offset == copied.stat().st_size, "the last line is torn"
    return left


async def test_a_system_that_grants_no_thread_costs_speed_and_nothing_else(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    model = script(always_right)
    messages: list[str] = []
    disk = PowerCutDisk(monkeypatch)
    engine = new_engine(tmp_path / "r", SUITE, notify=messages.append)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        closed = await asyncio.wait_for(engine.run(), 60)
    assert closed.reason == "completed"
    assert any("no thread can be started" in message for message in messages)
    assert isinstance(left_by(disk, engine.host.folder)[-1], Closed)
    assert model.asked == 8, "4 cases of 2 turns"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("failures", [1, 3])
@pytest.mark.parametrize("first", range(1, SYNCS))
async def test_a_sync_that_fails_is_made_good_before_the_run_is_completed(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, first: int, failures: int, number: int
) -> None:
    disk = PowerCutDisk(monkeypatch, times("fdatasync", "journal.jsonl", first, first + failures - 1, number))
    model = script(one_by_one(disk))
    monkeypatch.setattr(journal_buffer, "RETRY_S", 0.01)
    messages: list[str] = []
    engine = new_engine(tmp_path / "r", SUITE, concurrency=1, notify=messages.append)
    closed = await asyncio.wait_for(engine.run(), 60)
    assert closed.reason == "completed"
    assert disk.counts["fdatasync", "journal.jsonl"] >= first + failures, "the sync was never refused"
    assert any("does not confirm" in message and "the run waits" in message for message in messages)
    assert left_by(disk, engine.host.folder) == records(engine)
    assert len(ended(engine)) == SUITE.count
    assert model.asked == SUITE.count * SUITE.turns
    assert [path.name for path in engine.host.folder.path.glob("*unsynced*")] == []


@pytest.mark.parametrize("first", range(1, SYNCS))
async def test_a_disk_that_never_confirms_holds_the_run_and_it_is_never_completed(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    disk = PowerCutDisk(monkeypatch, times("fdatasync", "journal.jsonl", first, 10**9))
    model = script(one_by_one(disk))
    monkeypatch.setattr(journal_buffer, "RETRY_S", 0.01)
    messages: list[str] = []
    engine = new_engine(tmp_path / "r", SUITE, concurrency=1, notify=messages.append)
    task = asyncio.create_task(engine.run())
    await until(lambda: disk.counts["fdatasync", "journal.jsonl"] > first + 2 and model.now == 0)
    assert "does not confirm" in engine.control.status().message
    assert not task.done()
    engine.control.execute(Command("kill"))
    with pytest.raises(Fault, match=r"does not confirm .* journal\.jsonl: Input/output") as caught:
        await asyncio.wait_for(task, 60)
    assert caught.value.kind is FaultKind.DISK
    assert engine.host.folder.summary().state == "interrupted"
    assert not [record for record in records(engine) if isinstance(record, Closed) and record.reason == "completed"]

    disk.refuse = lambda call, name, count: 0
    resumed = new_engine(tmp_path / "r", SUITE)
    assert (await asyncio.wait_for(resumed.run(), 60)).reason == "completed"
    assert left_by(disk, resumed.host.folder) == records(resumed)
    assert len(ended(resumed)) == SUITE.count
    assert model.asked == SUITE.count * SUITE.turns, "what the page cache still had was not asked again"


async def test_whoever_resumes_after_the_power_cut_plays_what_was_lost(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(always_right)
    disk = PowerCutDisk(monkeypatch, times("fdatasync", "journal.jsonl", 2, 10**9))
    monkeypatch.setattr(journal_buffer, "RETRY_S", 0.01)
    engine = new_engine(tmp_path / "r", SUITE)
    task = asyncio.create_task(engine.run())
    await until(lambda: disk.counts["fdatasync", "journal.jsonl"] > 3)
    engine.control.execute(Command("kill"))
    with pytest.raises(Fault):
        await asyncio.wait_for(task, 60)
    disk.refuse = lambda call, name, count: 0
    engine.host.folder.journal_path.write_bytes(disk.after_power_cut(engine.host.folder.journal_path))
    again = new_engine(tmp_path / "r", SUITE)
    assert (await asyncio.wait_for(again.run(), 60)).reason == "completed"
    assert set(ended(again).values()) == {Outcome.PASSED}
    assert len(ended(again)) == SUITE.count


async def test_an_error_of_closing_a_file_that_is_synced_loses_nothing(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(always_right)
    disk = PowerCutDisk(monkeypatch, times("close", "journal.jsonl", 1, 99))
    engine = new_engine(tmp_path / "r", SUITE)
    assert (await engine.run()).reason == "completed"
    assert disk.counts["close", "journal.jsonl"] >= 1
    assert left_by(disk, engine.host.folder) == records(engine)


@pytest.mark.parametrize("name", ["r", "journal.jsonl"])
async def test_a_run_whose_journal_cannot_be_made_durable_does_not_start(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The name of the journal in its folder, and the repair of a torn tail."""
    model = script(always_right)
    engine = new_engine(tmp_path / "r", SUITE)
    if name == "journal.jsonl":
        engine.host.folder.journal_path.write_bytes(b'{"v":1,"t":"op')
    PowerCutDisk(monkeypatch, times("fsync", name, 1, 1))
    with pytest.raises(Fault, match="Input/output error"):
        await engine.run()
    assert model.asked == 0
    again = new_engine(tmp_path / "r", SUITE)
    assert (await again.run()).reason == "completed"


async def test_a_run_folder_that_is_deleted_holds_the_run_until_somebody_ends_it(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_buffer, "LOOK_EVERY_S", 0.01)
    model = script(always_right)
    messages: list[str] = []
    engine = new_engine(tmp_path / "r", DialogueSuite(400, 2, judged=False), concurrency=1, notify=messages.append)
    task = asyncio.create_task(engine.run())
    await until(lambda: model.asked > 10)
    shutil.rmtree(tmp_path / "r")
    await until(lambda: "was deleted" in engine.control.status().message and engine.host.running.all_wait)
    asked = model.asked
    assert asked < 800
    assert [message for message in messages if "was deleted" in message and "the run is paused" in message]
    await asyncio.sleep(0.05)
    assert (model.asked, task.done()) == (asked, False)
    engine.control.execute(Command("stop"))
    with pytest.raises(Fault, match="was deleted"):
        await asyncio.wait_for(task, 60)


async def test_a_journal_that_is_deleted_ends_a_run_that_nobody_watches(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_buffer, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(journal_buffer, "HELD_AFTER_DELETION_S", 0.01)
    model = script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(400, 2, judged=False), concurrency=1)
    task = asyncio.create_task(engine.run())
    await until(lambda: model.asked > 10)
    engine.host.folder.journal_path.unlink()
    with pytest.raises(Fault, match="was deleted"):
        await asyncio.wait_for(task, 60)
    assert model.asked < 800


async def test_a_time_limit_ends_a_run_that_waits_for_a_full_disk(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = PowerCutDisk(monkeypatch, times("write", JOURNAL, 6, 10**9, errno.ENOSPC))
    script(always_right)
    engine = new_engine(tmp_path / "r", SUITE, budget=Budget(seconds=0.5))
    with pytest.raises(Fault, match="No space left"):
        await asyncio.wait_for(engine.run(), 60)
    disk.refuse = accept
    engine = new_engine(tmp_path / "r", SUITE)
    engine.host.budget_meter.budget = Budget()
    assert (await engine.run()).reason == "completed"
    assert len(ended(engine)) == 4


@pytest.mark.parametrize("at", ["first", "last"])
async def test_a_journal_that_is_shortened_while_the_run_plays_ends_it_and_resume_plays_what_is_missing(
    tmp_path: Path, script: Script, at: str
) -> None:
    async def shorten_once(text: str, request: ChatRequest, watch: Watch) -> Reply:
        nonlocal shortened
        if not shortened and (at == "first" or len(ended(engine)) == 3):
            shortened = True
            os.truncate(engine.host.folder.journal_path, 0)
        return await always_right(text, request, watch)

    shortened = False
    script(shorten_once)
    engine = new_engine(tmp_path / "r", DialogueSuite(4, 1, judged=False), concurrency=1)
    with pytest.raises(Fault, match="was changed by another program"):
        await asyncio.wait_for(engine.run(), 60)
    engine = new_engine(tmp_path / "r", DialogueSuite(4, 1, judged=False))
    assert (await engine.run()).reason == "completed"
    assert len(ended(engine)) == 4


steps = st.lists(st.sampled_from(["append", "append", "sync", "bad sync", "reopen", "bad reopen", "bad write"]))


@seed(12)
@settings(max_examples=int(os.environ.get("EVAL_CONSOLE_JOURNALS", "100")), deadline=None)
@example(["bad write", "bad sync", "sync"], True)
@given(steps, st.booleans())
def test_what_a_good_sync_has_confirmed_survives_any_power_cut(
    tmp_path_factory: pytest.TempPathFactory, taken: list[str], only_grows: bool
) -> None:
    """Appends, syncs, failing writes and syncs and new writers in any order; also where nothing can be cut off."""
    folder = tmp_path_factory.mktemp("j")
    left = folder / "left.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        refused = {"ftruncate"} if only_grows else set[str]()
        disk = PowerCutDisk(
            patch, lambda call, name, _: errno.EIO if (call, name) in {(bad, JOURNAL) for bad in refused} else 0
        )
        writer, written, confirmed = JournalWriter(folder / JOURNAL), list[AnyRecord](), 0
        for number, step in enumerate([*taken, "append"]):
            refused |= {"fdatasync"} if step in ("bad sync", "bad reopen") else set()
            if step == "append":
                written.append(finished(str(number)))
                writer.append(written[-1])
            elif step == "bad write":
                fail_half_way(patch, writer, finished(str(number)))
            elif "sync" in step:
                confirmed = len(written) if sync(writer) else confirmed
            else:
                close(writer)
                writer = JournalWriter(folder / JOURNAL)
            refused -= {"fdatasync"}
            left.write_bytes(disk.after_power_cut(folder / JOURNAL))
            read = JournalReader(left).read_new()
            assert [record for record in read if record in written[:confirmed]] == written[:confirmed]
        writer.close()
        left.write_bytes(disk.after_power_cut(folder / JOURNAL))  # where a fragment was left, it may hold another one
        assert JournalReader(left).read_new() == JournalReader(folder / JOURNAL).read_new() == written


def sync(writer: JournalWriter) -> bool:
    try:
        writer.sync()
    except Fault:
        return False
    return writer.is_synced


def close(writer: JournalWriter) -> None:
    with contextlib.suppress(Fault):  # of a sync that was refused
        writer.close()


def fail_half_way(patch: pytest.MonkeyPatch, writer: JournalWriter, record: AnyRecord) -> None:
    """Let a write fall short."""
    write, calls = os.write, list[int]()

    def short(fd: int, data: bytes) -> int:
        calls.append(1)
        return write(fd, data[: len(data) // 2]) if data != b"\n" and len(calls) < 3 else 0

    with patch.context() as now:
        now.setattr(os, "write", short)
        with pytest.raises(Fault, match="cannot write"):
            writer.append(record)
