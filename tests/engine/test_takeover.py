"""Two engines on one run, where locks do not tell: the later one has it; and file systems that have no locks at all."""

import errno
import fcntl
import socket
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from server.openai_server import OpenAIServer, Scripted
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared

from console.core.fault import Fault
from console.core.record import Closed
from console.engine import journal_buffer
from console.engine.engine import Engine
from console.store.journal import JournalReader
from console.store.lock import Holder, RunLock, is_held
from console.store.runs import create_run


async def test_an_engine_whose_run_was_taken_over_writes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_buffer, "LOOK_EVERY_S", 0.02)
    told: list[str] = []
    with OpenAIServer(lambda request: Scripted("answer 0", latency_s=0.2)) as server:
        ready = prepared(tmp_path / "run", server.base_url, DialogueSuite(40, 2, judged=False))
        run = create_run(tmp_path, ready.manifest)

        def take_over(record: object) -> None:
            if len(told) == 1:
                run.lock_path.write_bytes(msgspec.json.encode(Holder(pid=7, host="elsewhere", since=time.time() + 1)))
            told.append(type(record).__name__)

        engine = Engine(run, ready, on_record=take_over)
        with pytest.raises(Fault, match="process 7 on elsewhere has taken over the run"):
            await engine.run()
    records = list(JournalReader(run.journal_path).iter_all())
    assert not any(isinstance(record, Closed) for record in records), "its end is for the other one to tell"
    assert len(records) < 40


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / "lock").touch()
    with pytest.raises(Fault, match="does not support locks") as refused:
        RunLock(tmp_path / "lock")
    assert "--runs" in refused.value.hint
    assert not is_held(tmp_path / "lock")


def test_the_holder_of_before_is_no_successor(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_bytes(msgspec.json.encode(Holder(pid=1, host=socket.gethostname(), since=1.0)))
    with RunLock(path) as lock:
        assert lock.successor() == ""
        path.write_bytes(b"not JSON")
        assert lock.successor() == ""


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with RunLock(path):
        [descriptor] = [int(fd.name) for fd in Path("/dev/fd").iterdir() if fd.exists() and fd.samefile(path)]
        copy = subprocess.Popen(["sleep", "60"], pass_fds=[descriptor])
    try:
        assert not is_held(path)
        RunLock(path).release()
    finally:
        copy.kill()
        copy.wait()
