"""Pulling τ²-bench from a packed checkout: what it needs is unpacked, and nothing else of a hostile archive."""

import io
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from console.benchmarks.tau2.data import pull as pulling
from console.benchmarks.tau2.data.pull import pull
from console.core.fault import UsageError
from console.suites.archive import ArchiveLimits
from console.suites.pull import Pull

TASKS = "tau2-bench-1.0.1/data/tau2/domains/airline/tasks.json"


def packed(path: Path, *members: tarfile.TarInfo | tuple[str, bytes], form: str = "gz") -> Path:
    with tarfile.open(path, f"w:{form}") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                named = tarfile.TarInfo(member[0])
                named.size = len(member[1])
                archive.addfile(named, io.BytesIO(member[1]))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def pulled(tmp_path: Path, archive: Path) -> Path:
    return pull(Pull(tmp_path / "data", lambda _: None, archive, accepts_digest=True))


@pytest.mark.parametrize("form", ["", "gz", "bz2", "xz"])
def test_links_devices_and_other_files_of_a_packed_checkout_are_left_out(tmp_path: Path, form: str) -> None:
    others = (
        special("tau2-bench-1.0.1", tarfile.DIRTYPE),
        special("../outside", tarfile.DIRTYPE),
        special("tau2-bench-1.0.1/data/tau2/domains/airline/link.json", tarfile.SYMTYPE, "/etc/passwd"),
        special("tau2-bench-1.0.1/data/tau2/domains/airline/hard.json", tarfile.LNKTYPE, TASKS),
        special("tau2-bench-1.0.1/data/tau2/domains/airline/pipe.json", tarfile.FIFOTYPE),
    )
    archive = packed(tmp_path / "checkout.tar", *others, (TASKS, b"[]"), ("tau2-bench-1.0.1/x.exe", b"MZ"), form=form)
    folder = pulled(tmp_path, archive)
    assert [path.name for path in folder.rglob("*") if path.is_file() and path.suffix == ".json"] == ["tasks.json"]
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert not (tmp_path / "outside").exists()


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "leaves the folder": lambda path: packed(path, ("../evil.json", b"{}")),
    "is absolute": lambda path: packed(path, ("/tmp/evil.json", b"{}")),
    "has one name twice": lambda path: packed(path, (TASKS, b"[]"), (TASKS, b"{}")),
    "is truncated": lambda path: path.write_bytes(packed(path, (TASKS, bytes(99_999))).read_bytes()[:-30]) and path,
    "is damaged": lambda path: path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + bytes(range(256))) and path,
    "is damaged xz": lambda path: path.write_bytes(b"\xfd7zXZ\0" + bytes(99)) and path,
    "is empty": lambda path: path.write_bytes(b"") or path,
    "is text": lambda path: path.write_bytes(b"hello " * 999) and path,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_that_is_not_sound_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        pulled(tmp_path, HOSTILE[name](tmp_path / "checkout.tar.gz"))
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"checkout.tar.gz"}


@pytest.mark.parametrize("name", [TASKS, "tau2-bench-1.0.1/film.mp4"])
def test_an_archive_that_unpacks_to_too_much_is_refused_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pulling, "_LIMITS", ArchiveLimits(member_bytes=8 << 20, total_bytes=16 << 20))
    archive = packed(tmp_path / "bomb.tar.gz", (name, bytes(60 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"larger than allowed|unpacks to more"):
            pulled(tmp_path, archive)
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
