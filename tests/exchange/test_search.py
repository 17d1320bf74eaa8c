"""Search in all runs finds every conversation in the journals, whatever happened to the index, and nothing else."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.recorded_runs import Recorder

from console.core.chat import Reply
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.exchange.search import indexing
from console.exchange.search.case_history import by_model, case_history
from console.exchange.search.hits import NoIndex, Search
from console.exchange.search.indexing import IndexUpdate
from console.insight.search_query import read_query
from console.store.lock import RunLocked
from console.store.search_index import SearchWriter, search_path

AT = {"a": 1, "b": 2, "c": 3}
"""Names of runs and their order of creation."""


def record(root: Path, name: str, said: dict[str, str], *, close: bool = True, **more: object) -> Recorder:
    """Write a run in which the model says one thing in each case; an exclamation mark ends in failure."""
    recorder = Recorder(root, cases=len(said), name=name, **more)
    for case, text in said.items():
        say(recorder, case, text)
    if close:
        recorder.close()
    return recorder


def say(recorder: Recorder, case: str, text: str, *, attempt: int = 1) -> None:
    key = recorder.start(case, title=case, attempt=attempt)
    recorder.ask(key, f"Question {case}", Reply(text))
    recorder.finish(key, Outcome.FAILED if "!" in text else Outcome.PASSED, "text_missing" if "!" in text else "")


def found(root: Path, text: str, most: int = 100) -> dict[str, list[str]]:
    """Return the cases with hits by run, newest run first, in the order of their ends."""
    with Search(root) as search:
        return {
            run.folder.name: [hit.key.case for hit in reversed(run.hits)] for run in search.run(read_query(text), most)
        }


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    record(tmp_path, "a", {"x": "a zebra", "y": "a horse!", "z": "zebra and horse"})
    record(tmp_path, "b", {"x": "no zebra!"})
    return tmp_path


def test_hits_by_run_with_their_passage(runs: Path):
    IndexUpdate(runs).run()
    assert found(runs, "zebra") == {"b": ["x"], "a": ["x", "z"]}
    assert found(runs, "zebra -horse") == {"b": ["x"], "a": ["x"]}
    assert found(runs, "zebra is:failed") == {"b": ["x"]}
    assert found(runs, "zebra run:a model:GPT-X suite:recorded") == {"a": ["x", "z"]}
    assert found(runs, "question") == {"b": ["x"], "a": ["x", "y", "z"]}
    assert found(runs, "nowhere") == {}
    with Search(runs) as search:
        _, run = search.run(read_query("zebra"), most=1)
        assert (run.count, [hit.passage.text for hit in run.hits if hit.passage]) == (2, ["zebra and horse"])


def test_a_running_run_grows(tmp_path: Path):
    recorder = record(tmp_path, "a", {"x": "a zebra"}, close=False, live=True)
    IndexUpdate(tmp_path).run()
    open_key = recorder.start("y")
    recorder.ask(open_key, "Question y", Reply("first zebra"))
    say(recorder, "z", "third zebra")
    IndexUpdate(tmp_path).run()
    assert found(tmp_path, "zebra") == {"a": ["x", "z"]}
    recorder.leave()
    IndexUpdate(tmp_path).run()  # nobody plays it any more, so this conversation is all there is
    assert found(tmp_path, "zebra") == {"a": ["x", "z", "y"]}


def test_an_interrupted_conversation_that_goes_on_is_one_hit(tmp_path: Path):
    recorder = record(tmp_path, "a", {}, close=False)
    key = recorder.start("x")
    recorder.ask(key, "Question", Reply("a zebra"))
    IndexUpdate(tmp_path).run()
    assert found(tmp_path, "zebra") == {"a": ["x"]}
    assert found(tmp_path, "zebra is:passed") == {}
    key = recorder.start("x")
    recorder.ask(key, "More", Reply("a horse"), n=2)
    IndexUpdate(tmp_path).run()  # interrupted again
    assert found(tmp_path, "zebra horse") == {"a": ["x"]}
    recorder.finish(key, Outcome.PASSED)
    say(recorder, "x", "zebra again", attempt=2)
    IndexUpdate(tmp_path).run()
    assert found(tmp_path, "zebra is:passed") == {"a": ["x"]}
    assert found(tmp_path, "zebra horse") == {"a": ["x"]}


def test_a_journal_read_in_pieces_gives_the_same(tmp_path: Path):
    """Pieces end anywhere, within lines and between those of conversations that are played at the same time."""
    recorder = record(tmp_path, "a", {}, close=False)
    keys = [recorder.start(case) for case in "xyz"]
    for number in (1, 2):
        for key in keys:
            recorder.ask(key, f"zebra {number}", Reply(f"{key.case} {number}"), n=number)
    for key in keys[1:]:
        recorder.finish(key, Outcome.PASSED)
    recorder.close()
    journal = recorder.folder.journal_path
    data = journal.read_bytes()
    for cut in range(0, len(data), len(data) // 12):
        for size in (cut, len(data)):
            journal.write_bytes(data[:size])
            IndexUpdate(tmp_path).run()
        assert sorted(found(tmp_path, "zebra")["a"]) == ["x", "y", "z"], cut
        assert sorted(found(tmp_path, "zebra is:passed")["a"]) == ["y", "z"], cut
        shutil.rmtree(search_path(tmp_path).parent)


def test_runs_that_are_gone_moved_or_replaced(runs: Path):
    IndexUpdate(runs).run()
    shutil.rmtree(runs / "b")
    (runs / "a").rename(runs / "renamed")
    IndexUpdate(runs).run()
    assert found(runs, "zebra") == {"renamed": ["x", "z"]}
    shutil.rmtree(runs / "renamed")
    record(runs, "renamed", {"x": "a lion"})
    IndexUpdate(runs).run()
    assert found(runs, "zebra") == {}
    assert found(runs, "lion") == {"renamed": ["x"]}


@pytest.mark.parametrize("damage", ["layout", "garbage", "page", "deleted", "tables"])
def test_a_damaged_index_is_made_again(damage: str, runs: Path):
    IndexUpdate(runs).run()
    expected, path = found(runs, "zebra"), search_path(runs)
    if damage in ("layout", "tables"):
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 7" if damage == "layout" else "DROP TABLE conversations")
    elif damage == "deleted":
        shutil.rmtree(path.parent)
    else:
        with path.open("r+b") as file:
            file.seek(0 if damage == "garbage" else 4096)
            file.write(b"\x07garbage" * (path.stat().st_size // 8))
    with pytest.raises(NoIndex):
        found(runs, "zebra")
    IndexUpdate(runs).run()
    assert found(runs, "zebra") == expected


def test_killed_in_the_middle_it_goes_on(tmp_path: Path):
    for name in AT:
        record(tmp_path, name, {f"{name}{number}": f"zebra {number}" for number in range(20)})
    code = (
        "from pathlib import Path; from console.exchange.search import indexing; indexing.COMMIT_AFTER_S = -1.0\n"
        f"def told(progress): print(progress.done, flush=True); input()\n"
        f"indexing.IndexUpdate(Path({str(tmp_path)!r}), notify=told).run()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline()
        with pytest.raises(RunLocked):
            IndexUpdate(tmp_path).run()
        child.send_signal(signal.SIGKILL)
    with Search(tmp_path) as search:
        assert 0 < search.coverage.conversations < 60
    IndexUpdate(tmp_path).run()
    assert {name: len(cases) for name, cases in found(tmp_path, "zebra").items()} == dict.fromkeys(AT, 20)
    assert found(tmp_path, "7") == {name: [f"{name}7"] for name in sorted(AT, reverse=True)}


def test_a_stopped_update_goes_on_and_readers_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(indexing, "COMMIT_AFTER_S", -1.0)
    for name in AT:
        record(tmp_path, name, {"x": f"zebra {name}"})
    counts: list[int] = []
    stop = threading.Event()

    def told(progress: indexing.Progress) -> None:
        counts.append(len(found(tmp_path, "zebra")))
        stop.set()

    IndexUpdate(tmp_path, stopped=stop.is_set, notify=told).run()
    assert counts
    assert 0 < counts[0] < len(AT)
    IndexUpdate(tmp_path).run()
    assert len(found(tmp_path, "zebra")) == len(AT)


def test_rows_without_effect_are_dropped_at_last(runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("console.store.search_index.WASTE", 1)
    IndexUpdate(runs).run()
    shutil.rmtree(runs / "a")
    IndexUpdate(runs).run()
    size_before = Search(runs).coverage.conversations
    IndexUpdate(runs).run()
    assert (size_before, found(runs, "zebra")) == (1, {"b": ["x"]})
    with sqlite3.connect(search_path(runs)) as connection:
        assert connection.execute("SELECT count(*) FROM words WHERE words MATCH 'horse'").fetchone() == (0,)


def test_without_a_writable_folder_the_reason_is_said(runs: Path):
    (runs / ".index").write_text("in the way")
    with pytest.raises(Exception, match="search index cannot be written"):
        IndexUpdate(runs).run()


def test_history_of_a_case(tmp_path: Path):
    record(tmp_path, "a", {"x": "right", "y": "right"}, model=ModelFacts("sim/hasty"))
    record(tmp_path, "b", {"x": "wrong!"}, model=ModelFacts("sim/careful"))
    recorder = record(tmp_path, "c", {"x": "wrong!"}, close=False, model=ModelFacts("sim/hasty"))
    say(recorder, "x", "right", attempt=2)
    IndexUpdate(tmp_path).run()
    with Search(tmp_path) as search:
        runs = case_history(search, "recorded", "x")
        assert case_history(search, "recorded", "nothing") == case_history(search, "other", "x") == []
    assert [(run.folder.name, run.outcome, run.passed, run.graded) for run in runs] == [
        ("c", Outcome.FAILED, 0, 1), ("b", Outcome.FAILED, 0, 1), ("a", Outcome.PASSED, 1, 1),
    ]  # fmt: skip
    assert len({run.digest for run in runs}) == 1
    models = by_model(runs, "sim/careful")
    assert [(model.model, [run.folder.name for run in model.runs]) for model in models] == [
        ("sim/careful", ["b"]), ("sim/hasty", ["a", "c"]),
    ]  # fmt: skip


def test_the_index_is_private_and_holds_no_text(runs: Path):
    IndexUpdate(runs).run()
    path = search_path(runs)
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"no zebra" not in path.read_bytes()
    with SearchWriter(runs, indexing.LAYOUT) as writer:
        assert [run.name for run in writer.runs()] == ["b", "a"]
    assert not os.path.exists(path.with_name("search.sqlite-journal"))
