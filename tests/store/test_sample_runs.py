"""Trials do not pile up: the newest stay, old ones go, and nothing that is not theirs is touched."""

import os
from pathlib import Path

import pytest

from console.core.case import Setting
from console.core.run import Manifest, ModelFacts
from console.store.lock import RunLock
from console.store.runs import RunFolder, create_run
from console.store.sample_runs import KEPT, KEPT_S, prune_sample_runs

NOW = 1_800_000_000.0
OLD = NOW - KEPT_S - 1


def trial(root: Path, name: str, changed: float) -> RunFolder:
    facts = ModelFacts(name="m")
    run = create_run(root, Manifest(id=name, at=1.0, suite="s", model=facts, setting=Setting(), cases=3))
    run.journal_path.write_bytes(b"")
    for path in (run.manifest_path, run.journal_path):
        os.utime(path, (changed, changed))
    return run


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_the_newest_stay_however_old_and_the_young_however_many(tmp_path: Path) -> None:
    for number in range(KEPT + 4):
        trial(tmp_path, f"old-{number:02}", OLD - 100 + number)
    assert prune_sample_runs(tmp_path, NOW) == 4
    assert left(tmp_path) == [f"old-{number:02}" for number in range(4, KEPT + 4)]
    for number in range(KEPT + 4):
        trial(tmp_path, f"young-{number:02}", NOW - 60)
    assert prune_sample_runs(tmp_path, NOW) == KEPT
    assert left(tmp_path) == [f"young-{number:02}" for number in range(KEPT + 4)]
    assert prune_sample_runs(tmp_path / "none", NOW) == 0


@pytest.fixture
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.store.sample_runs.KEPT", 0)


@pytest.mark.usefixtures("none_kept")
def test_a_trial_that_is_written_to_stays(tmp_path: Path) -> None:
    played, resumed = trial(tmp_path, "played", OLD), trial(tmp_path, "resumed", OLD)
    os.utime(resumed.journal_path, (NOW, NOW))
    with RunLock(played.lock_path):
        assert prune_sample_runs(tmp_path, NOW) == 0
    assert prune_sample_runs(tmp_path, NOW) == 1
    assert left(tmp_path) == ["resumed"]


@pytest.mark.usefixtures("none_kept")
def test_what_is_no_trial_is_not_touched(tmp_path: Path) -> None:
    root, beside = tmp_path / "try", trial(tmp_path, "beside", OLD)
    (root / "own").mkdir(parents=True)
    (root / "own" / "notes.txt").write_text("mine")
    (root / "link").symlink_to(beside.path)
    (root / "file").write_text("mine")
    assert prune_sample_runs(root, NOW) == 0
    assert left(root) == ["file", "link", "own"]
    assert beside.manifest().id == "beside"
