"""The list of runs: in the order of their exact times, with an index and without, whatever happens to the index."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from console.core.case import Key, Setting
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened
from console.core.run import Manifest, ModelFacts, Summary
from console.store import run_index, run_list
from console.store.journal import JournalWriter
from console.store.lock import RunLock
from console.store.run_list import count_runs, find_run, list_runs, read_newest, read_summaries
from console.store.run_scan import index_path
from console.store.runs import RunFolder, create_run, new_run_id


def make(root: Path, name: str, at: float, cases: int = 1) -> RunFolder:
    run = create_run(
        root, Manifest(id=name, at=at, suite="s", model=ModelFacts("m"), setting=Setting(), cases=cases, format="bfcl")
    )
    play(run, cases)
    return run


def play(run: RunFolder, cases: int, outcome: Outcome = Outcome.PASSED) -> None:
    writer = JournalWriter(run.journal_path)
    writer.append(Opened(at=1.0, pid=cases))
    for number in range(cases):
        writer.append(Finished(at=2.0, key=Key(f"c{number}"), verdict=Verdict(outcome)))
    writer.append(Closed(at=3.0, reason="completed"))
    writer.close()


def listed(root: Path, limit: int | None = None) -> list[tuple[str, Summary | None]]:
    return [
        (one.folder.name, msgspec.structs.replace(one.summary, updated=0.0) if one.summary else None)
        for one in read_summaries(root, limit)
    ]


@pytest.fixture(params=["one by one", "index"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Lists are made without the index, and with it."""
    monkeypatch.setattr(run_list, "INDEXED_FROM", 10**6 if request.param == "one by one" else 1)
    monkeypatch.setattr(run_index, "_SETTLED_NS", -1)
    return request.param


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 999_999), min_size=1, max_size=12, unique=True),
    st.sampled_from([1, 10**6]),
    st.sampled_from([-1, 2 * 10**9]),
)
def test_latest_is_the_newest_of_many_within_one_second(
    tmp_path_factory: pytest.TempPathFactory, microseconds: list[int], indexed_from: int, settled_ns: int
) -> None:
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_list, "INDEXED_FROM", indexed_from)
        patch.setattr(run_index, "_SETTLED_NS", settled_ns)
        made: dict[str, float] = {}
        for part in microseconds:
            at = 1_700_000_000 + part / 1e6
            run = make(root, new_run_id("suite", "model"), at)
            made[run.name] = at
            newest = max(made, key=lambda name: made[name])
            assert find_run(root, "latest").name == newest
            order = sorted(made, key=lambda name: -made[name])
            assert [run.name for run in list_runs(root)] == order
            assert [name for name, _ in listed(root, 3)] == order[:3]


def test_a_changed_run_is_read_again(tmp_path: Path, many: str) -> None:
    runs = [make(tmp_path, f"r{number}", float(number)) for number in range(4)]
    first = listed(tmp_path)
    assert [summary.tally.passed for _, summary in first if summary] == [1, 1, 1, 1]
    assert listed(tmp_path) == first
    play(runs[1], 3, Outcome.FAILED)
    shutil.rmtree(runs[0].path)
    make(tmp_path, "r9", 9.0, cases=2)
    runs[2].manifest_path.unlink()
    runs[3].manifest_path.write_bytes(b"{damaged")
    runs[3].summary_path.unlink()
    changed = {name: summary.tally.failed if summary else None for name, summary in listed(tmp_path)}
    assert changed == {"r9": 0, "r3": None, "r1": 3}
    assert find_run(tmp_path, "latest").name == "r9"
    assert count_runs(tmp_path) >= 3


def test_a_run_that_plays_is_live_in_the_list(tmp_path: Path, many: str) -> None:
    run = make(tmp_path, "r", 1.0)
    assert [summary.state for _, summary in listed(tmp_path) if summary] == ["completed"]
    with RunLock(run.lock_path):
        JournalWriter(run.journal_path).append(Opened(at=5.0, pid=1))
        assert [summary.state for _, summary in listed(tmp_path) if summary] == ["running"]
    assert [summary.state for _, summary in listed(tmp_path) if summary] == ["interrupted"]


def test_a_folder_becomes_a_run_and_names_need_not_be_unicode(tmp_path: Path, many: str) -> None:
    odd = os.fsdecode(b"caf\xe9\xff")
    make(tmp_path, "r", 1.0)
    (tmp_path / odd).mkdir()
    assert [name for name, _ in listed(tmp_path)] == ["r"]
    shutil.copy(tmp_path / "r" / "run.json", tmp_path / odd / "run.json")
    shutil.copy(tmp_path / "r" / "journal.jsonl", tmp_path / odd / "journal.jsonl")
    assert {name for name, _ in listed(tmp_path)} == {"r", odd}
    assert {name for name, _ in listed(tmp_path)} == {"r", odd}


def test_odd_texts_in_a_summary_are_listed(tmp_path: Path, many: str) -> None:
    run = make(tmp_path, "r", 1.0)
    model = ModelFacts("m\ud800\x1b[31m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            RunFolder,
            "manifest",
            lambda self, **_: msgspec.structs.replace(
                Manifest(id="r", at=1.0, suite="s", model=model, setting=Setting(), format="bfcl")
            ),
        )
        run.summary_path.unlink(missing_ok=True)
        assert [summary.model for _, summary in listed(tmp_path) if summary] == [model.name]
        assert [name for name, _ in listed(tmp_path)] == ["r"]


@pytest.mark.parametrize("at", ["1e999", '"x"', "-5", "null", "1e308"])
def test_a_manifest_without_a_sensible_time_is_sorted_by_its_name(tmp_path: Path, many: str, at: str) -> None:
    for name in ("2026-01-01T0000-a", "2026-01-03T0000-c"):
        make(tmp_path, name, 1_767_225_600.0 if name.endswith("a") else 1_767_398_400.0)
    odd = make(tmp_path, "2026-01-02T0000-b", 5.0)
    odd.manifest_path.write_text(odd.manifest_path.read_text().replace('"at":5.0', f'"at":{at}'))
    for _ in range(2):
        assert [run.name[-1] for run in list_runs(tmp_path)] == ["c", "b", "a"]


@seed(12)
@settings(max_examples=int(os.environ.get("EVAL_CONSOLE_JOURNALS", "60")), deadline=None)
@given(st.data())
def test_damage_of_the_index_changes_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_list, "INDEXED_FROM", 1)
        patch.setattr(run_index, "_SETTLED_NS", -1)
        for number in range(5):
            make(root, f"r{number}", float(number), cases=number)
        right = listed(root)
        assert listed(root) == right
        path = index_path(root)
        whole = bytearray(path.read_bytes())
        match data.draw(st.sampled_from(["flip", "cut", "junk", "gone", "folder", "other", "rows"])):
            case "flip":
                for _ in range(data.draw(st.integers(1, 40))):
                    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
                path.write_bytes(whole)
            case "cut":
                path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
            case "junk":
                path.write_bytes(data.draw(st.binary(max_size=300)))
            case "gone":
                path.unlink()
            case "folder":
                path.unlink()
                path.mkdir()
            case "other":
                with sqlite3.connect(path) as connection:
                    connection.execute("PRAGMA user_version = 7")
                connection.close()
            case _:
                with sqlite3.connect(path) as connection:
                    connection.execute("UPDATE summaries SET summary = x'00' WHERE name = CAST('r3' AS BLOB)")
                    connection.execute("DELETE FROM names")
                connection.close()
        assert listed(root) == right
        assert listed(root) == right
        assert find_run(root, "latest").name == "r4"


def _list_and_make(root: str, number: int) -> list[str]:
    run_list.INDEXED_FROM = 1
    for step in range(5):
        make(Path(root), f"p{number}-{step}", 100.0 * number + step)
        assert f"p{number}-{step}" in [name for name, _ in listed(Path(root))]
    return [name for name, _ in listed(Path(root))]


def test_several_processes_list_and_make_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(_list_and_make, [(str(tmp_path), number) for number in range(3)])
    monkeypatch.setattr(run_list, "INDEXED_FROM", 1)
    expected = [f"p{number}-{step}" for number in (2, 1, 0) for step in (4, 3, 2, 1, 0)]
    assert [name for name, _ in listed(tmp_path)] == expected


def test_a_busy_or_read_only_index_delays_nobody(tmp_path: Path, many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_index, "_WAIT_S", 0.01)
    make(tmp_path, "r0", 0.0)
    before = listed(tmp_path)
    index_path(tmp_path).parent.mkdir(exist_ok=True)
    other = sqlite3.connect(index_path(tmp_path), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    make(tmp_path, "r1", 1.0)
    assert [name for name, _ in listed(tmp_path)] == ["r1", "r0"]
    other.execute("ROLLBACK")
    other.close()
    assert listed(tmp_path)[1:] == before


def test_a_runs_folder_that_cannot_be_read_is_said(tmp_path: Path, many: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot be read"):
        list_runs(tmp_path / "loop")
    assert list_runs(tmp_path / "nowhere") == []
    assert not (tmp_path / "nowhere").exists()


def test_an_index_knows_the_newest_runs_and_how_many_there_are(tmp_path: Path, many: str) -> None:
    for number in range(5):
        make(tmp_path, f"r{number}", at=number)
    summaries = listed(tmp_path)
    newest = read_newest(tmp_path, 2)
    if many != "index":
        assert newest is None
        return
    assert newest is not None
    assert [run.folder.name for run in newest[0]] == [name for name, _ in summaries[:2]] == ["r4", "r3"]
    assert newest[1] == len(summaries)
    shutil.rmtree(tmp_path / "r4")
    assert [run.folder.name for run in (read_newest(tmp_path, 1) or ([], 0))[0]] == ["r3"]


def test_few_runs_load_no_database(tmp_path: Path) -> None:
    make(tmp_path, "r", 1.0)
    script = (
        "import sys; from console.__main__ import main; "
        f"code = main(['runs', '--json', '--runs', {str(tmp_path)!r}]); sys.exit(code or 'sqlite3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not index_path(tmp_path).exists()
