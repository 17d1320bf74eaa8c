"""The queue's file: order, moving, cancelling, and what a damaged or contended one does."""

import shutil
import threading
from pathlib import Path

import pytest

from console.core.case import Setting
from console.core.fault import UsageError
from console.core.run import Manifest, ModelFacts
from console.store.lock import RunLock, RunLocked
from console.store.run_list import list_runs
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder, create_run


def filled(root: Path, *names: str) -> RunQueue:
    queue = RunQueue(root)
    for name in names:
        create_run(root, Manifest(id=name, at=1.0, suite="s", model=ModelFacts(name="m"), setting=Setting(), cases=3))
        queue.add([Queued(name, 1.0)])
    return queue


def test_order_is_kept_and_changed(tmp_path):
    queue = filled(tmp_path, "a", "b", "c")
    assert queue.names() == ["a", "b", "c"]
    assert queue.move("c", -2)
    assert queue.move("a", 1)
    assert queue.names() == ["c", "b", "a"]
    assert not queue.move("c", -1)
    assert not queue.move("x", 1)
    assert RunQueue(tmp_path).names() == ["c", "b", "a"]


def test_nothing_overtakes_what_is_being_played(tmp_path):
    queue = filled(tmp_path, "a", "b", "c")
    with RunLock(tmp_path / "a" / "lock"):
        assert not queue.move("b", -1)
        assert not queue.move("a", 1)
        assert queue.move("c", -5)
    assert queue.names() == ["a", "c", "b"]


def test_queued_runs_say_so_and_are_no_longer_queued_when_cancelled(tmp_path):
    queue = filled(tmp_path, "a", "b")
    assert [run.summary().state for run in list_runs(tmp_path)] == ["queued", "queued"]
    assert queue.cancel("a")
    assert not queue.cancel("a")
    assert [run.name for run in list_runs(tmp_path)] == ["b"]
    assert (tmp_path / ".trash" / "a" / "run.json").exists()


def test_a_deleted_run_can_be_taken_back_whole_and_deleted_again(tmp_path):
    queue = filled(tmp_path, "a", "b")
    (tmp_path / "a" / "journal.jsonl").write_bytes(b"what was played\n")
    for place, name in enumerate(("a", "a-2", "a-3")):
        queue.discard("a")
        assert [run.name for run in list_runs(tmp_path)] == ["b"]
        assert (tmp_path / ".trash" / name / "journal.jsonl").read_bytes() == b"what was played\n"
        if place < 2:
            shutil.copytree(tmp_path / ".trash" / name, tmp_path / "a")
            assert sorted(run.name for run in list_runs(tmp_path)) == ["a", "b"]
            assert RunFolder(tmp_path / "a").manifest().id == "a"


def test_what_has_a_journal_is_not_thrown_away(tmp_path):
    queue = filled(tmp_path, "a")
    (tmp_path / "a" / "journal.jsonl").write_bytes(b"")
    assert queue.cancel("a")
    assert (tmp_path / "a").exists()


def test_the_last_look_and_the_end_of_the_runner_are_one_moment(tmp_path):
    queue = filled(tmp_path, "a")
    lock = queue.acquire()
    assert queue.is_playing
    with pytest.raises(RunLocked):
        queue.acquire()
    assert queue.next_or_release(lock) == Queued("a", 1.0)
    queue.remove("a")
    assert queue.next_or_release(lock) is None
    assert not queue.is_playing


def test_many_writers_lose_nothing(tmp_path):
    queue = RunQueue(tmp_path)
    threads = [threading.Thread(target=RunQueue(tmp_path).add, args=([Queued(f"r{n}", 1.0)],)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(queue.names()) == sorted(f"r{n}" for n in range(20))


@pytest.mark.parametrize("name", ["1" * 256, "ż" * 128])
def test_a_name_that_no_folder_can_have_is_damage(tmp_path, name):
    queue = RunQueue(tmp_path)
    queue.add([Queued(name, 1.0)])
    with pytest.raises(UsageError, match="no folder has a name as long") as caught:
        queue.entries()
    assert caught.value.where.endswith("queue.json")


def test_a_damaged_file_is_said_with_its_cure(tmp_path):
    queue = filled(tmp_path, "a")
    (tmp_path / ".queue" / "queue.json").write_text("[{", encoding="utf-8")
    with pytest.raises(UsageError, match="queue cannot be read") as told:
        queue.entries()
    assert "queue.json" in told.value.where
    assert queue.names() == []
    assert [run.name for run in list_runs(tmp_path)] == ["a"]
