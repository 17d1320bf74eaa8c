# ruff: noqa: ASYNC240 - tests look at small local files
"""A worker started through a launcher in the place of sandbox-exec: what it is given, and what happens if it fails."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.seatbelt_reader import Rule, is_allowed, read_profile

from console.core.fault import UsageError
from console.sandbox import launch
from console.sandbox.level import FLAG
from console.sandbox.macos import process
from console.sandbox.worker import Layers, Worker

CELL = "console.sandbox.programs.cell"


def write_launcher(folder: Path, script: str) -> str:
    path = folder / "sandbox-exec"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def layers(launcher: str) -> Layers:
    return Layers(namespaces=False, mounts=False, landlock=0, seccomp=False, seatbelt=launcher)


async def start(launcher: str, **options: Any) -> Worker:
    return await Worker.start(CELL, layers=layers(launcher), **{"allow_weaker": True, **options})


@pytest.fixture
def recorder(tmp_path: Path) -> str:
    """A launcher that keeps the profile and confines nothing."""
    return write_launcher(
        tmp_path, f'[ "$1" = -p ] || exit 64\nprintf %s "$2" >\'{tmp_path}/profile\'\nshift 2\nexec "$@"'
    )


async def rules_of(recorder: str, **options: Any) -> tuple[list[Rule], str]:
    """Return the profile of a worker, and its scratch folder."""
    worker = await start(recorder, **options)
    ran = await worker.call("run", {"code": "import os\nprint(os.getcwd())"})
    await worker.kill()
    return read_profile((Path(recorder).parent / "profile").read_text(encoding="utf-8")), ran["output"].strip()


async def test_it_runs_code_and_its_level_is_what_it_found_denied(recorder: str) -> None:
    worker = await start(recorder)
    try:
        assert (await worker.call("run", {"code": "print(6 * 7)"}))["output"] == "42\n"
        assert worker.level.seatbelt
        assert worker.level.text == "sandbox: files ✘ net ✘ processes ✘ syscalls ✘ (seatbelt)"
    finally:
        await worker.kill()


async def test_a_launcher_that_denies_nothing_is_not_trusted(recorder: str) -> None:
    with pytest.raises(UsageError, match="can reach files, network, processes of this machine") as caught:
        await start(recorder, allow_weaker=False)
    assert FLAG in caught.value.hint


async def test_the_worker_may_use_what_the_layers_of_linux_are_told(recorder: str, tmp_path: Path) -> None:
    suite = tmp_path / 'a "suite" (1)'
    (suite / "hidden").mkdir(parents=True)
    for path in (suite / "data.csv", suite / "hidden" / "expected.json"):
        path.write_text("x")
    rules, scratch = await rules_of(recorder, read_only=[suite], hidden=[suite / "hidden"])
    package = Path(launch.__file__).resolve().parents[1]
    for path in (suite / "data.csv", package / "sandbox" / "inside.py", os.__file__, Path(sys.executable).resolve()):
        assert is_allowed(rules, "file-read-data", path=os.path.realpath(path)), path
        assert not is_allowed(rules, "file-write-data", path=os.path.realpath(path)), path
    assert is_allowed(rules, "file-read-data", path=str(suite), kind="folder")
    assert is_allowed(rules, "file-read-metadata", path=sys.executable)
    assert is_allowed(rules, "process-exec", path=os.path.realpath(sys.executable))
    assert is_allowed(rules, "file-write-create", path=f"{os.path.realpath(scratch)}/x")
    assert not is_allowed(rules, "file-read-data", path=str(suite / "hidden" / "expected.json"))
    assert not is_allowed(rules, "file-read-data", path=str(Path.home() / ".ssh" / "id_ed25519"))
    assert not is_allowed(rules, "file-write-create", path=str(tmp_path / "x"))


async def test_its_end_is_the_end_of_the_process(recorder: str) -> None:
    worker = await start(recorder)
    ran = await worker.call("run", {"code": "import os\nprint(os.getpid())"})
    await worker.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(int(ran["output"]), 0)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'sandbox-exec: sandbox_apply: Operation not permitted' >&2; exit 71",
         "seatbelt (sandbox-exec: sandbox_apply: Operation not permitted (code 71))"),
        ("kill -ABRT $$", "seatbelt (Python did not start (code -6))"),
        ("exit 65", "seatbelt (Python did not start (code 65))"),
    ],
)  # fmt: skip
async def test_where_the_launcher_fails_code_is_refused_like_on_linux_without_namespaces(
    tmp_path: Path, script: str, reason: str
) -> None:
    launcher = write_launcher(tmp_path, script)
    with pytest.raises(UsageError, match="can reach files, network, processes of this machine") as caught:
        await start(launcher, allow_weaker=False)
    assert FLAG in caught.value.hint
    worker = await start(launcher)
    ran = await worker.call("run", {"code": "print(1)"})
    await worker.kill()
    assert ran["output"] == "1\n"
    assert worker.level.missing == (reason,)
    assert not worker.level.seatbelt


async def test_without_the_launcher_the_reason_is_given(tmp_path: Path) -> None:
    worker = await start(str(tmp_path / "nothing"))
    await worker.kill()
    assert worker.level.missing == ("seatbelt (No such file or directory (code 1))",)


def test_what_is_denied_inside_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(process.socket.socket, "connect", refuse)
    for name in ("open", "fork", "kill"):
        monkeypatch.setattr(process.os, name, refuse)
    assert process.read_level({}) == {
        "files": True, "network": True, "processes": True, "seatbelt": True, "missing": [],
    }  # fmt: skip
    monkeypatch.setattr(process.os, "kill", lambda *arguments: None)
    assert not process.read_level({})["processes"], "a signal got out"


def test_links_on_a_path_are_found_in_order(tmp_path: Path) -> None:
    (tmp_path / "real" / "bin").mkdir(parents=True)
    (tmp_path / "opt").symlink_to("real")
    (tmp_path / "real" / "bin" / "python").symlink_to("python3")
    (tmp_path / "real" / "bin" / "python3").symlink_to(tmp_path / "opt" / "bin" / "python3.11")
    (tmp_path / "loop").symlink_to("loop")
    assert process.links_on(f"{tmp_path}/opt/bin/python") == [
        f"{tmp_path}/opt", f"{tmp_path}/real/bin/python", f"{tmp_path}/real/bin/python3", f"{tmp_path}/opt",
    ]  # fmt: skip
    assert process.links_on(f"{tmp_path}/real") == []
    assert len(process.links_on(f"{tmp_path}/loop/x")) <= 40


def test_paths_are_named_as_the_file_system_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Data").mkdir()
    assert process.canonical(str(tmp_path / "Data")) == str(tmp_path / "Data")
    monkeypatch.setattr(process.fcntl, "F_GETPATH", 50, raising=False)
    monkeypatch.setattr(process.fcntl, "fcntl", lambda number, query, room: b"/Volumes/me/Data".ljust(len(room), b"\0"))
    assert process.canonical(str(tmp_path / "Data")) == "/Volumes/me/Data"
    assert process.canonical(str(tmp_path / "missing")) == str(tmp_path / "missing")
