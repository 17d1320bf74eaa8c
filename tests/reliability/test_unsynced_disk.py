"""Disks that refuse to make something durable, through the commands; and who can read what a run leaves."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from server.openai_server import OpenAIServer
from support.lookup_suite import only_run, records, results, right, until, write_models, write_suite
from support.power_cut_disk import PowerCutDisk
from support.quick_rows import first_quick

from console.core.record import Closed
from console.store.journal import JournalWriter
from console.store.runs import RunFolder

PLAY = ("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "3", "--json", "--quiet")
NO_SYNC = """
import errno, os, sys
original = os.fdatasync
def refuse(fd):
    if os.readlink(f"/proc/self/fd/{fd}").endswith("journal.jsonl"):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    original(fd)
os.fdatasync = refuse
from console.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("call", "name"),
    [("fsync", ".run.json"), ("replace", ".run.json"), ("fsync", "20"), ("fsync", "runs")],
    ids=["manifest", "rename", "run folder", "runs folder"],
)
def test_a_run_that_cannot_be_made_durable_does_not_begin(
    console, home: Path, monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    def refuse(this: str, of: str, count: int) -> int:
        return errno.EIO if this == call and of.startswith(name) and count == 1 else 0

    PowerCutDisk(monkeypatch, refuse)
    ended = console(*PLAY)
    assert ended.code == 2
    assert "cannot be written: Input/output error" in ended.err
    assert [path for path in (home / "runs").iterdir() if not path.name.startswith(".")] == []


def test_a_summary_that_cannot_be_kept_is_made_anew(console, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(this: str, of: str, count: int) -> int:
        return errno.ENOSPC if this == "replace" and of.startswith(".summary.json") else 0

    disk = PowerCutDisk(monkeypatch, refuse)
    ended = console(*PLAY)
    assert ended.code == 0, ended.err
    assert any(call == "replace" and name.startswith(".summary.json") for call, name in disk.counts)
    assert not any("sync" in call and name.startswith(".summary.json") for call, name in disk.counts), "it is derived"
    run = only_run(home / "runs")
    assert [path.name for path in run.iterdir() if "summary" in path.name] == []
    assert RunFolder(run).summary().tally.passed == ended.data["summary"]["tally"]["passed"]


def test_a_headless_run_says_that_the_disk_confirms_nothing_and_never_ends_well(
    home: Path, environment: dict[str, str], console
) -> None:
    data = write_suite(home / "data", 6)
    with OpenAIServer(right) as server:
        write_models(home, server)
        command = [sys.executable, "-c", NO_SYNC, "run", "-m", "m", "-s", "lookups", "--data", str(data)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            while "does not confirm writes" not in (line := process.stderr.readline()):
                assert line, "it ended without a word"
            assert "the run waits" in line
            process.send_signal(signal.SIGINT)
            while "ctrl+c again aborts them" not in (line := process.stderr.readline()):
                assert line, "it ended although nothing is durable"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == 3, err
        assert "Traceback" not in err
        assert "resume` writes the data again" in err
        run = only_run(home / "runs")
        assert not [record for record in records(run) if isinstance(record, Closed)]
        assert console("runs", "--json").data["runs"][0]["state"] == "interrupted"
        asked = server.counts["chat"]
        before = results(run)
        resumed = console("resume", "--data", data, "--quiet")
        assert resumed.code == 0, resumed.err
        assert results(run) | before == results(run)
        assert len(results(run)) == 6
        assert server.counts["chat"] <= asked + 6 - len(before), "only what was in flight was asked again"


@pytest.mark.parametrize("umask", first_quick([0, 0o022, 0o277]))
def test_nobody_else_can_read_a_run_whatever_the_umask(
    console, home: Path, umask: int, request: pytest.FixtureRequest
) -> None:
    (home / "runs").mkdir()
    old = os.umask(umask)
    request.addfinalizer(lambda: os.umask(old))
    ended = console(*PLAY)
    assert ended.code in (0, 3), ended.err
    run = only_run(home / "runs")
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"v":1,"t":"fin')
    case = console("review", "latest", "--all", "--json").lines[0]["case"]
    assert console("tag", f"latest#{case}", "model").code == 0
    JournalWriter(journal).close()
    started = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1", "--detach", "--json")
    assert started.code == 0, started.err
    until(lambda: all(not RunFolder(path.parent).is_live for path in (home / "runs").glob("*/journal.jsonl")))
    until(lambda: len(list((home / "runs").glob("*/summary.json"))) == 2)
    names = {path.name.split("-")[0] for path in (home / "runs").rglob("*") if path.is_file()}
    assert {"run.json", "journal.jsonl", "summary.json", "lock", "notes.jsonl", "torn", "engine.log"} <= names
    modes = {path: path.stat().st_mode & 0o7777 for path in (home / "runs").glob("*/**/*") if path.is_file()}
    assert {mode & 0o077 for mode in modes.values()} == {0}, modes
    folders = [path.stat().st_mode & 0o7777 for path in (home / "runs").iterdir()]
    assert set(folders) == {0o700}


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become another user")
def test_another_user_is_told_that_a_run_cannot_be_read(console) -> None:
    script = """
import os, sys
from console.__main__ import main
verbs = (["runs"], ["show"], ["resume"], ["runs", "--json"])
codes = [int(main([*verb, "--runs", sys.argv[1]])) for verb in verbs]  # loads what the other user may not read
print("as another user", file=sys.stderr)
os.setgid(65534)
os.setuid(65534)
print([int(main([*verb, "--runs", sys.argv[1]])) for verb in verbs])
"""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        assert console(*PLAY, "--runs", name).code in (0, 3)
        run = only_run(Path(name))
        done = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[0, 2, 2, 0]", done.stdout + done.stderr
    told = [line for line in done.stderr.split("as another user")[1].splitlines() if f"{name}/{run.name}/" in line]
    assert len(told) == 4
    assert all("cannot be read: " in line and "Permission denied" in line for line in told)
    assert "nothing has been run" not in done.stderr


Start = Callable[..., "subprocess.Popen[str]"]


def test_a_folder_that_is_deleted_in_mid_run_is_said_and_ends_badly(home: Path, start: Start) -> None:
    data = write_suite(home / "data", 200)
    with OpenAIServer(lambda request: right(request, latency_s=0.2)) as server:
        write_models(home, server)
        process = start(
            [sys.executable, "-m", "console", "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "2"]
        )
        until(lambda: server.counts["chat"] > 5)
        shutil.rmtree(only_run(home / "runs"))
        assert process.stderr is not None
        while "was deleted" not in (line := process.stderr.readline()):
            assert line, "it ended without a word"
        assert "the run is paused" in line
        assert server.counts["chat"] < 200, "it played on to its end"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "was deleted" in err
    assert "Traceback" not in err
