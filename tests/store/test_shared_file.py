"""Files that several processes change: nothing is lost or torn, and no writer hangs."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from types import SimpleNamespace

import pytest
from support.child_process import run_module, start_module
from support.shared_file_writers import KINDS, WRITERS, names

from console.core.fault import UsageError
from console.store import atomic
from console.store.atomic import change_file


@pytest.fixture
def held(tmp_path: Path) -> Iterator["Popen[bytes]"]:
    """A process that holds the lock of `tmp_path / "file"`."""
    os.mkfifo(tmp_path / "held")
    process = start_module("shared_file_writers", "hold", tmp_path / "file")
    (tmp_path / "held").read_bytes()
    yield process
    process.kill()
    process.wait(30)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which eight processes have changed a file of each kind."""
    folder = tmp_path_factory.mktemp("written")
    ended = run_module("shared_file_writers", folder, timeout_s=300)
    assert [line for line in ended.stdout.splitlines() if line in KINDS] == [*KINDS], ended.stderr
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_eight_processes_lose_no_change(written: Path, kind: str) -> None:
    folder = written / kind
    assert KINDS[kind].left(folder) == {name for number in range(WRITERS) for name in names(number)}
    assert not list(folder.rglob(f".{Path(KINDS[kind].file).name}.*")), "no temporary file is left"


def test_a_killed_writer_blocks_nobody(tmp_path: Path, held: "Popen[bytes]") -> None:
    held.kill()
    held.wait(30)
    change_file(tmp_path / "file", lambda before: b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_stopped_writer_is_named_after_some_seconds(
    tmp_path: Path, held: "Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "PATIENCE_S", 0.3)
    os.kill(held.pid, signal.SIGSTOP)
    with pytest.raises(UsageError, match="has kept the folder locked") as refused:
        change_file(tmp_path / "file", lambda before: b"new")
    if Path("/proc/locks").exists():
        assert f"process {held.pid}" in str(refused.value)
    assert not (tmp_path / "file").exists()


def test_a_writer_waits_while_others_make_progress(
    tmp_path: Path, held: "Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += 1.0
        (tmp_path / "file").write_text("")
        os.utime(tmp_path / "file", (clock[0], clock[0]))
        if clock[0] > 3 * atomic.PATIENCE_S:
            held.kill()
            held.wait(30)

    monkeypatch.setattr(atomic, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    change_file(tmp_path / "file", lambda before: b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"state", "models"}))
def test_a_folder_that_cannot_be_written_gives_one_sentence(tmp_path: Path, kind: str) -> None:
    """A file stands where the folder should be, which stops even root."""
    place = tmp_path / "place"
    place.write_bytes(b"")
    with pytest.raises(UsageError, match=r"(cannot be .*: (Not a directory|File exists))"):
        KINDS[kind].change(place, "n0-0")


def test_an_error_leaves_the_file_and_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)

    def refuse(before: bytes | None) -> bytes:
        raise UsageError(f"not {before!r}")

    with pytest.raises(UsageError, match="not b'old'"):
        change_file(path, refuse)
    change_file(path, lambda before: (before or b"") + b"er")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"older", 0o640)
    change_file(path, lambda before: b"mine", is_private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere" / "real")
    change_file(tmp_path / "file", lambda before: b"new")
    assert (tmp_path / "file").is_symlink()
    assert (tmp_path / "elsewhere" / "real").read_bytes() == b"new"


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "file")
    with pytest.raises(UsageError, match="symbolic links"):
        change_file(tmp_path / "file", lambda before: b"new")


def test_a_pipe_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file")
    with pytest.raises(UsageError, match="not an ordinary file"):
        change_file(tmp_path / "file", lambda before: b"new")
