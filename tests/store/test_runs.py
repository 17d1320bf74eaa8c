"""Run folders: made exclusively, found by any handle, summed up from the journal alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from console.core.case import Case, Key, Setting
from console.core.fault import UsageError
from console.core.names import slug
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.lock import RunLock, RunLocked, is_held
from console.store.notes import Note, Notes
from console.store.run_list import find_run, list_runs
from console.store.runs import CHEAP_BYTES, RunFolder, create_run, new_run_id


def manifest(name: str) -> Manifest:
    return Manifest(id=name, at=1.0, suite="s", model=ModelFacts("m", simulated=True), setting=Setting(), cases=3)


def write(run: RunFolder, *records: AnyRecord) -> None:
    writer = JournalWriter(run.journal_path)
    for record in records:
        writer.append(record)
    writer.close()


def ended(case: str, outcome: Outcome, attempt: int = 1, reason: str | None = None) -> Finished:
    return Finished(at=3.0, key=Key(case, 0, attempt), verdict=Verdict(outcome, reason=reason), input_tokens=10)


def test_summary_counts_the_latest_attempt_and_keeps_what_was_paid(tmp_path: Path) -> None:
    run = create_run(tmp_path, manifest("r"))
    write(
        run,
        Opened(at=1.0, pid=1),
        *(Started(at=2.0, key=Key(name), case=Case(name, "c")) for name in "abc"),
        ended("a", Outcome.PASSED),
        ended("b", Outcome.BROKEN, reason="server"),
        Started(at=2.0, key=Key("b", 0, 2), case=Case("b", "c")),
        ended("b", Outcome.FAILED, attempt=2, reason="value_error"),
    )
    summary = run.summary()
    assert (summary.tally.passed, summary.tally.failed, summary.tally.broken) == (1, 1, 0)
    assert summary.reasons == {"value_error": 1}
    assert summary.tally.input_tokens == 30
    assert summary.tally.running == 1
    assert summary.state == "interrupted"
    assert summary.simulated


def test_a_kept_summary_is_renewed_when_the_journal_grew(tmp_path: Path) -> None:
    run = create_run(tmp_path, manifest("r"))
    write(run, Opened(at=1.0, pid=1), ended("a", Outcome.PASSED))
    assert run.summary().tally.passed == 1
    write(run, ended("b", Outcome.PASSED), Closed(at=4.0, reason="completed"))
    assert run.summary().tally.passed == 2
    assert run.summary().state == "completed"
    run.summary_path.write_bytes(b"{damaged")
    assert run.summary().tally.passed == 2


def test_a_summary_of_a_journal_of_another_length_is_renewed_though_the_time_is_the_same(tmp_path: Path) -> None:
    run = create_run(tmp_path, manifest("r"))
    write(run, Opened(at=1.0, pid=1), *(ended(f"{'a' * 200}{n}", Outcome.PASSED) for n in range(400)))
    assert run.journal_path.stat().st_size > CHEAP_BYTES
    assert run.summary().tally.passed == 400
    modified_ns = run.journal_path.stat().st_mtime_ns
    write(run, ended("b", Outcome.PASSED))
    os.utime(run.journal_path, ns=(modified_ns, modified_ns))
    assert run.summary().tally.passed == 401


def test_runs_are_found_by_name_part_and_latest(tmp_path: Path) -> None:
    for name in ("2026-01-01T1000-a-k1", "2026-01-02T1000-b-k2"):
        create_run(tmp_path, manifest(name))
    (tmp_path / "not-a-run").mkdir()
    assert [run.name[-2:] for run in list_runs(tmp_path)] == ["k2", "k1"]
    assert find_run(tmp_path, "latest").name.endswith("k2")
    assert find_run(tmp_path, "a-k1").name.endswith("k1")
    assert find_run(tmp_path, str(tmp_path / "2026-01-01T1000-a-k1")).name.endswith("k1")
    with pytest.raises(UsageError, match="matches 2 runs"):
        find_run(tmp_path, "2026")
    with pytest.raises(UsageError, match="no run is named"):
        find_run(tmp_path, "nothing")


def test_a_runs_own_name_is_told_from_a_part_of_anothers(tmp_path: Path) -> None:
    for name in ("2026-01-01T1000-mem-40d1", "2026-01-01T1001-careful-memory_kv-7f1c", "2026-01-01T1002-ab-7f1d"):
        create_run(tmp_path, manifest(name))
    assert find_run(tmp_path, "mem").name.endswith("mem-40d1")
    assert find_run(tmp_path, "ab").name.endswith("ab-7f1d")
    create_run(tmp_path, manifest("2026-01-01T1003-mem-40d2"))
    with pytest.raises(UsageError, match="2 runs are named 'mem'") as error:
        find_run(tmp_path, "mem")
    assert error.value.hint == "Give one of these names in full."


def test_a_short_name_given_twice_asks_for_no_longer_one(tmp_path: Path) -> None:
    for name in ("2026-01-01T1000-b3-40d1", "2026-01-01T1001-b3-40d2"):
        create_run(tmp_path, manifest(name))
    with pytest.raises(UsageError, match=r"2 runs are named 'b3': .*-40d[12], ") as error:
        find_run(tmp_path, "b3")
    assert error.value.hint == "Give one of these names in full."
    assert find_run(tmp_path, "2026-01-01T1000-b3-40d1").name.endswith("d1")


@pytest.mark.parametrize("part", ["2", "k1", "-"])
def test_a_bare_number_picks_no_run_by_the_digits_of_its_name(tmp_path: Path, part: str) -> None:
    create_run(tmp_path, manifest("2026-01-01T1000-a-k1"))
    with pytest.raises(UsageError, match=r"too short .* it could be 2026-01-01T1000-a-k1") as error:
        find_run(tmp_path, part)
    assert error.value.hint == "Give 3 characters or more."


def test_a_run_is_never_made_twice(tmp_path: Path) -> None:
    create_run(tmp_path, manifest("r"))
    with pytest.raises(UsageError, match="exists"):
        create_run(tmp_path, manifest("r"))


def test_names_are_safe_whatever_they_are_made_of() -> None:
    name = new_run_id("../../etc", "a/b\x1b[31m:ü", "x" * 300)
    assert "/" not in name
    assert name.isascii()
    assert len(name) < 150
    assert slug("..") == ""


def test_the_lock_is_exclusive_and_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    script = (
        "import sys; from pathlib import Path; from console.store.lock import RunLock; "
        f"lock = RunLock(Path({str(path)!r})); print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    assert is_held(path)
    with pytest.raises(RunLocked, match=f"process {other.pid}"):
        RunLock(path)
    other.kill()
    other.communicate()
    assert not is_held(path)
    with RunLock(path):
        assert is_held(path)


def test_notes_supersede_and_survive_damage(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add(Note(Key("a"), "tag", "m"))
    notes.add(Note(Key("a"), "tag", "g"))
    notes.add(Note(Key("b"), "tag", "m"))
    with notes.path.open("ab") as file:
        file.write(b"\x00junk\n")
    notes.add(Note(Key("b"), "tag", ""))
    assert {case: annotation.tag for (case, _), annotation in notes.annotations().items()} == {"a": "g"}
    assert len(notes.all()) == 4
    assert all(note.at > 0 for note in notes.all())


def test_a_run_is_starting_for_a_while_before_its_first_record(tmp_path: Path) -> None:
    fresh = msgspec.structs.replace(manifest("new"), at=time.time())
    assert create_run(tmp_path, fresh).summary().state == "starting"
    assert create_run(tmp_path, manifest("old")).summary().state == "interrupted"
