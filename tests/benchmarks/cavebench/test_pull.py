"""Pulling scenarios: from a checkout and by download, whole or not at all; nothing of it runs."""

import io
import json
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.data.pull import pull
from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.fault import UsageError
from console.suites.catalog import read_entry
from console.suites.pull import Pull

SCENARIO = [{"name": "s", "module": "evals.fam.mod", "conversations": [{"id": "c", "turns": [{"query": "q"}]}]}]
FILES = {
    "evals/fam/s.json": json.dumps(SCENARIO),
    "evals/fam/mod.py": "raise SystemExit('it ran')",
    "evals/fam/data.csv": "a,b\n1,2\n",
    "evals/fam/.secret.txt": "x",
    "core/types.py": "x = 1",
    "runs/old.json": "{}",
    "uv.lock": "",
}


def checkout(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def taken(root: Path, source: Path | None) -> Path:
    """Pull whatever there is."""
    return pull(Pull(root, lambda _: None, source, accepts_digest=True))


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_from_a_checkout(tmp_path: Path) -> None:
    said: list[Any] = []
    folder = pull(Pull(tmp_path / "data", said.append, checkout(tmp_path / "co", FILES), accepts_digest=True))
    assert names(folder) == ["evals/fam/data.csv", "evals/fam/mod.py", "evals/fam/s.json", "suite.toml"]
    entry = read_entry(folder, "pulled")
    assert (entry.format, entry.comparable, entry.source["version"]) == ("cavebench", False, "unknown")
    assert [category.name for category in CaveBenchSuite(entry).categories()] == ["s"]
    assert said[0].startswith("accepted despite a digest mismatch: the files of cave-bench a074e6a: sha256 ")
    assert said[1:] == ["1 scenarios, 1 conversations, 1 turns"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    source = checkout(tmp_path / "co", FILES)
    (tmp_path / "outside.txt").write_text("x")
    (source / "evals" / "link.txt").symlink_to(tmp_path / "outside.txt")
    assert "evals/link.txt" not in names(taken(tmp_path / "data", source))


def test_a_damaged_checkout_leaves_the_old_folder(tmp_path: Path) -> None:
    old = taken(tmp_path / "data", checkout(tmp_path / "co", FILES))
    before = names(old)
    for text in ("[{", json.dumps([{"name": "s", "module": "gone", "conversations": []}])):
        with pytest.raises(UsageError, match=r"s\.json"):
            taken(tmp_path / "data", checkout(tmp_path / "bad", FILES | {"evals/fam/s.json": text}))
        assert names(old) == before
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["cavebench"]


def test_another_folder_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither evals/ nor benchmarks/"):
        taken(tmp_path / "data", checkout(tmp_path / "co", {"x.py": ""}))


def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for name, text in FILES.items():
            written.writestr(f"cave-bench-a074e6a/{name}", text)
    asked: list[str] = []

    def answer(_: object, address: str, timeout: float) -> Any:
        asked.append(address)
        return io.BytesIO(archive.getvalue())

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", answer)
    folder = taken(tmp_path / "data", None)
    assert names(folder) == ["evals/fam/data.csv", "evals/fam/mod.py", "evals/fam/s.json", "suite.toml"]
    assert len(asked) == 1


def test_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object, address: str, timeout: float) -> Any:
        raise urllib.error.URLError("unreachable")

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", fail)
    with pytest.raises(UsageError, match="--from PATH"):
        taken(tmp_path / "data", None)
    assert not list((tmp_path / "data").iterdir())
