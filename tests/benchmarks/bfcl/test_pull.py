"""Pulling: only the pinned wheel is taken, archives are checked member by member, an old pull survives a failed one."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from console.benchmarks.bfcl.data import pull as pulling
from console.core.fault import UsageError
from console.suites.archive import ArchiveLimits, tree_sha256, unpack_zip
from console.suites.pull import Pull
from console.suites.wheel import Wheel, find_wheel


def _zip(path: Path, members: dict[str, bytes | None], mode: int = stat.S_IFREG | 0o644) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content or b"")
    return path


def test_keeps_what_is_wanted(tmp_path: Path):
    archive = _zip(tmp_path / "a.zip", {"p/one.txt": b"1", "p/two.bin": b"2"})
    written = unpack_zip(archive, tmp_path / "out", lambda name: name.endswith(".txt"))
    assert [path.name for path in written] == ["one.txt"]
    assert (tmp_path / "out" / "p" / "one.txt").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../escape.txt", "outside"),
        ("/etc/passwd", "outside"),
        ("a/../../b", "outside"),
        ("c:\\x", "not a plain"),
        ("a\\b", "not a plain"),
    ],
)
def test_refuses_names_that_leave_the_folder(tmp_path: Path, name: str, reason: str):
    archive = _zip(tmp_path / "a.zip", {"fine.txt": b"1", name: b"2"})
    with pytest.raises(UsageError, match=reason):
        unpack_zip(archive, tmp_path / "out", lambda name: name == "fine.txt")
    assert not (tmp_path / "out").exists()


def test_refuses_links(tmp_path: Path):
    archive = _zip(tmp_path / "a.zip", {"link": b"/etc/passwd"}, stat.S_IFLNK | 0o777)
    with pytest.raises(UsageError, match="link"):
        unpack_zip(archive, tmp_path / "out", lambda name: True)


def test_refuses_bombs_and_crowds(tmp_path: Path):
    bomb = _zip(tmp_path / "bomb.zip", {"zeros": bytes(20_000_000)})
    with pytest.raises(UsageError, match="compressed more than"):
        unpack_zip(bomb, tmp_path / "out", lambda name: True)
    crowd = _zip(tmp_path / "crowd.zip", {f"f{n}": b"" for n in range(6)})
    with pytest.raises(UsageError, match="6 members"):
        unpack_zip(crowd, tmp_path / "out", lambda name: True, ArchiveLimits(members=5))
    with pytest.raises(UsageError, match="larger than"):
        unpack_zip(bomb, tmp_path / "out", lambda name: True, ArchiveLimits(member_bytes=1 << 20, ratio=1e9))


def test_the_sum_of_all_members_is_bounded(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.txt", b"x" * 1000)
    with pytest.raises(UsageError, match="unpacks to more than"):
        unpack_zip(tmp_path / "many.zip", tmp_path / "out", lambda _: True, ArchiveLimits(total_bytes=3999))
    assert (
        len(unpack_zip(tmp_path / "many.zip", tmp_path / "out", lambda _: True, ArchiveLimits(total_bytes=4000))) == 4
    )


def test_refuses_names_that_collide_when_case_is_ignored(tmp_path: Path):
    archive = _zip(tmp_path / "a.zip", {"Data.txt": b"1", "data.txt": b"2"})
    with pytest.raises(UsageError, match="twice"):
        unpack_zip(archive, tmp_path / "out", lambda name: True)


def test_refuses_what_is_no_zip(tmp_path: Path):
    path = tmp_path / "a.zip"
    path.write_bytes(b"hello")
    with pytest.raises(UsageError, match="not a readable zip"):
        unpack_zip(path, tmp_path / "out", lambda name: True)


def test_refuses_another_wheel(tmp_path: Path):
    path = _zip(tmp_path / "bfcl_eval-2026.3.23-py3-none-any.whl", {"bfcl_eval/data/x.json": b"{}"})
    with pytest.raises(UsageError, match="sha256"):
        pulling.pull(Pull(tmp_path / "data", lambda line: None, path))
    assert not (tmp_path / "data" / "bfcl").exists()


def test_refuses_a_missing_wheel(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read"):
        find_wheel(Wheel("x", "1", "0" * 64), tmp_path, Pull(tmp_path, lambda line: None, tmp_path / "none.whl"))


def test_takes_a_folder_and_calls_it_not_comparable(tmp_path: Path):
    source = tmp_path / "checkout"
    (source / "bfcl_eval" / "data" / "unused_datasets").mkdir(parents=True)
    (source / "bfcl_eval" / "data" / "BFCL_v4_simple_python.json").write_text("{}\n")
    (source / "bfcl_eval" / "data" / "unused_datasets" / "old.json").write_text("{}\n")
    (source / "bfcl_eval" / "model_handler.py").write_text("")
    said = io.StringIO()
    folder = pulling.pull(Pull(tmp_path / "data", said.write, source, accepts_digest=True))
    kept = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert kept == ["bfcl_eval/data/BFCL_v4_simple_python.json", "suite.toml"]
    assert "comparable = false" in (folder / "suite.toml").read_text()
    assert "accepted despite a digest mismatch: the files of bfcl-eval" in said.getvalue()


def test_a_failed_pull_leaves_the_old_one(tmp_path: Path):
    old = tmp_path / "data" / "bfcl"
    old.mkdir(parents=True)
    (old / "suite.toml").write_text('format = "bfcl"\n')
    with pytest.raises(UsageError, match="has no"):
        pulling.pull(Pull(tmp_path / "data", lambda line: None, tmp_path))
    assert (old / "suite.toml").exists()
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["bfcl"]


def test_tree_digest_sees_names_and_contents(tmp_path: Path):
    for name, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / ("y" if name == "b" else "x")).write_text(content)
    assert len({tree_sha256(tmp_path / name) for name in "abc"}) == 3


def test_pip_failure_is_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(UsageError, match="pip") as caught:
        pulling.pull(Pull(tmp_path / "data", lambda line: None))
    assert "--from PATH" in caught.value.hint
    assert not (tmp_path / "data" / "bfcl").exists()
