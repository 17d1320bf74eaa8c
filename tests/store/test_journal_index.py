"""What is kept beside a journal: it opens as if read, and counts for nothing once the journal is another."""

import os
import random
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from support.crafted_index import change, crafted
from support.fuzz_budget import BUDGET
from support.recorded_runs import loop_run, plain_run

from console.core.case import Key
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Opened
from console.insight.overview import Overview
from console.insight.overview_snapshot import decode_overview, encode_overview, layout
from console.store.journal import JournalWriter
from console.store.journal_index import JournalIndex
from console.store.runs import RunFolder


def follow(folder: RunFolder) -> tuple[JournalIndex, Overview]:
    index, overview = JournalIndex(folder.journal_path), Overview()
    for record in index.iter_all():
        overview.apply(record)
    return index, overview


def saved(folder: RunFolder) -> Overview:
    index, overview = follow(folder)
    index.save(folder.index_path, layout(), encode_overview(overview))
    return overview


def known(overview: Overview) -> list[object]:
    """All that lists and headers show."""
    return [
        overview.fold, overview.rollouts, list(overview.running.items()), list(overview.failures),
        list(overview.problems), overview.problem_count, overview.track_names, overview.opened_at, overview.confinement,
    ]  # fmt: skip


@pytest.mark.parametrize("make", [plain_run, loop_run])
def test_ends_alone_are_read_from_the_same_lines_and_damage_is_listed(tmp_path: Path, make: Callable[..., Any]) -> None:
    folder = make(tmp_path).folder
    lines = folder.journal_path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"at", b"it", 1)
    folder.journal_path.write_bytes(b"".join(lines))
    whole, ends = JournalIndex(folder.journal_path), JournalIndex(folder.journal_path)
    finished = [record for record in whole.iter_all() if isinstance(record, Finished)]
    assert list(ends.iter_ends()) == finished != []
    assert ends.keys() == whole.keys()
    assert [*map(ends.read, ends.keys())] == [*map(whole.read, whole.keys())]
    assert [damage.line for damage in ends.damages] == [damage.line for damage in whole.damages] == [3]


@pytest.mark.parametrize("make", [plain_run, loop_run])
def test_what_was_kept_is_what_reading_gives(tmp_path: Path, make: Callable[..., Any]) -> None:
    folder = make(tmp_path).folder
    read, overview = follow(folder)
    saved(folder)
    index = JournalIndex(folder.journal_path)
    restored = index.restore_saved(folder.index_path, layout(), decode_overview, live=False)
    assert restored is not None
    assert known(restored) == known(overview)
    assert (index.offset, index.lines, index.keys()) == (read.offset, read.lines, read.keys())
    assert [*map(index.read, index.keys())] == [*map(read.read, read.keys())]
    assert list(index.iter_all()) == []


def flip(folder: RunFolder) -> None:
    """Change one byte in the middle of the journal."""
    with folder.journal_path.open("r+b") as file:
        file.seek(folder.journal_path.stat().st_size // 2)
        file.write(b"\x00")


def rewrite(folder: RunFolder) -> None:
    data = folder.journal_path.read_bytes()
    folder.journal_path.write_bytes(data)


def grow(folder: RunFolder) -> None:
    writer = JournalWriter(folder.journal_path)
    writer.append(Opened(at=1.0, pid=2))
    writer.close()


def spoil(folder: RunFolder) -> None:
    data = bytearray(folder.index_path.read_bytes())
    data[len(data) // 2] ^= 1
    folder.index_path.write_bytes(data)


def cut(folder: RunFolder) -> None:
    os.truncate(folder.index_path, 3)


CHANGES = [flip, rewrite, grow, spoil, cut, lambda it: it.index_path.unlink(), lambda it: it.journal_path.unlink()]


@pytest.mark.parametrize("change", CHANGES, ids=["flip", "rewrite", "grow", "spoil", "cut", "delete", "no journal"])
def test_it_counts_only_for_the_journal_it_came_from(tmp_path: Path, change: Callable[[RunFolder], None]) -> None:
    folder = plain_run(tmp_path).folder
    saved(folder)
    change(folder)
    index = JournalIndex(folder.journal_path)
    assert index.restore_saved(folder.index_path, layout(), decode_overview, live=False) is None
    assert (index.offset, index.keys()) == (0, []), "so it is read from its start"


def test_another_version_reads_the_journal(tmp_path: Path) -> None:
    folder = plain_run(tmp_path).folder
    saved(folder)
    assert (
        JournalIndex(folder.journal_path).restore_saved(folder.index_path, layout() + 1, decode_overview, live=False)
        is None
    )


def test_a_run_that_goes_on_is_taken_up_where_it_was_kept(tmp_path: Path) -> None:
    """While an engine has it, and only while the beginning is the same."""
    recorder = plain_run(tmp_path, close=False)
    folder = recorder.folder
    saved(folder)
    key = Key("live_multiple_9-4-1", 0, 1)
    recorder.write(Finished(at=recorder.tick(), key=key, verdict=Verdict(Outcome.PASSED)))
    recorder.close()
    index = JournalIndex(folder.journal_path)
    overview = index.restore_saved(folder.index_path, layout(), decode_overview, live=True)
    assert overview is not None
    for record in index.iter_all():
        overview.apply(record)
    assert known(overview) == known(follow(folder)[1])
    assert index.restore_saved(folder.index_path, layout(), decode_overview, live=False) is None


def test_nothing_is_kept_of_a_journal_that_is_not_read_to_its_end(tmp_path: Path) -> None:
    folder = plain_run(tmp_path).folder
    index = JournalIndex(folder.journal_path)
    index.read_new(1000)
    index.save(folder.index_path, layout(), encode_overview(Overview()))
    assert not folder.index_path.exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    folder = plain_run(tmp_path).folder
    index, overview = follow(folder)
    index.save(tmp_path / "nowhere" / "index", layout(), encode_overview(overview))
    assert not (tmp_path / "nowhere").exists()


def test_what_is_damaged_counts_for_nothing(tmp_path: Path) -> None:
    """Cut at any place, or with any byte changed."""
    folder = plain_run(tmp_path).folder
    saved(folder)
    sound = folder.index_path.read_bytes()
    rng = random.Random(5)
    cuts = [sound[:end] for end in {*range(12), *rng.sample(range(len(sound)), 60)}]
    flips = [change(sound, place, rng) for place in {*range(12), *rng.sample(range(len(sound)), 60)}]
    for data in (*cuts, *flips, sound + b"x", sound * 2):
        folder.index_path.write_bytes(data)
        assert (
            JournalIndex(folder.journal_path).restore_saved(folder.index_path, layout(), decode_overview, live=False)
            is None
        )


def test_of_a_portion_that_grows_too_large_its_kinds_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = plain_run(tmp_path).folder
    read = saved(folder)
    monkeypatch.setattr("console.insight.rollouts._MOST_BYTES", 100)
    index = JournalIndex(folder.journal_path)
    overview = index.restore_saved(folder.index_path, layout(), decode_overview, live=False)
    assert overview is not None
    facts = attrgetter("key", "order", "outcome", "reason", "subject", "category")
    assert [*map(facts, overview.rollouts.values())] == [*map(facts, read.rollouts.values())]


@pytest.mark.parametrize("make", [plain_run, loop_run])
def test_what_somebody_made_is_refused_or_read_and_never_half(tmp_path: Path, make: Callable[..., Any]) -> None:
    """The right checksum over wrong values: nothing of it is taken, or it is a whole index of lines of this journal."""
    folder = make(tmp_path).folder
    read, sound_overview = follow(folder)
    saved(folder)
    sound, size = folder.index_path.read_bytes(), folder.journal_path.stat().st_size
    rng = random.Random(9)
    refused = 0
    for _ in range(400 * BUDGET):
        folder.index_path.write_bytes(crafted(sound, rng))
        index = JournalIndex(folder.journal_path)
        overview = index.restore_saved(folder.index_path, layout(), decode_overview, live=False)
        if overview is None:
            refused += 1
            assert (index.offset, index.lines, index.keys()) == (0, 0, [])
            continue
        assert index.offset == size
        assert [rollout.order for rollout in overview.rollouts.values()] == [*range(len(overview.rollouts))]
        for key in read.keys():  # noqa: SIM118  no mapping
            records = index.read(key)
            assert all(getattr(record, "key", None) == key for record in records)
            assert len(records) <= len(read.read(key))
    assert refused > 100 * BUDGET
    again, now = follow(folder)
    assert (again.keys(), known(now)) == (read.keys(), known(sound_overview))
