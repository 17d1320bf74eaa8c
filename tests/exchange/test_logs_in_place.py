"""An `.eval` is reviewed where it is: lists from its summaries, cases from its samples, and nothing beside it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from support.inspect_logs import eval_members, sample, write_eval, write_zstd_eval

from console.config.paths import state_dir
from console.core.case import Key
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.engine.regrade import prepare_regrade
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.imports.in_place import in_thread, open_in_place
from console.exchange.run_reader import RunReader
from console.insight.passage import PassageKind
from console.store.growing_run import GrowingRun
from console.store.notes import Note, Notes
from console.store.runs import RunFolder
from console.tui.data.run_feed import RunFeeds


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    samples = [sample("a"), sample("b", "I", answer="5"), sample("b", "C", epoch=2), sample("c", 0.0, scores={})]
    return write_zstd_eval(folder / "log.eval", eval_members(samples))


def passages(folder: RunFolder, case: str, rollout: int = 0) -> list[tuple[PassageKind, str]]:
    reader = RunReader(folder)
    shown = reader.conversation(reader.side.rollouts[case, rollout].key)
    return [(passage.kind, passage.text) for passage in shown.passages]


def test_a_log_in_place_shows_what_an_imported_one_shows(log: Path, tmp_path: Path):
    shown = open_in_place(log)
    (item,) = find_items(log)
    (report,) = item.form.load(log, ImportSettings(tmp_path / "runs"))
    imported = RunFolder(tmp_path / "runs" / report.run)
    rollouts = [RunReader(folder).side.rollouts for folder in (shown, imported)]
    assert list(rollouts[0]) == list(rollouts[1])
    assert [rollout.outcome for rollout in rollouts[0].values()] == [
        rollout.outcome for rollout in rollouts[1].values()
    ]
    for case, rollout in rollouts[0]:
        assert passages(shown, case, rollout) == passages(imported, case, rollout)
    assert shown.summary().tally.failed == 1
    assert shown.summary().scores == imported.summary().scores


def test_a_log_in_place_is_not_graded_again_but_imported_first(log: Path):
    with pytest.raises(UsageError, match="is a log that is only shown") as refused:
        prepare_regrade(open_in_place(log), judge="sim/judge")
    assert "eval-console import" in refused.value.hint


def test_the_feed_of_the_screens_reads_cases_from_the_log(log: Path):
    async def opened() -> tuple[list[str], Outcome | None]:
        feed = RunFeeds().open(open_in_place(log))
        while not feed.is_read:
            feed.pump()
            await asyncio.sleep(0)
        shown = feed.conversation(feed.overview.rollouts["b", 0].key)
        feed.close()
        outcome = shown.verdict.outcome if shown.verdict is not None else None
        return [passage.text for passage in shown.passages[:2]], outcome

    assert asyncio.run(opened()) == (["What is b?", "5"], Outcome.FAILED)


def test_nothing_is_written_beside_the_log_and_a_second_look_lists_nothing_anew(log: Path):
    before = log.read_bytes()
    first = open_in_place(log)
    listed = first.journal_path.stat().st_mtime_ns
    assert open_in_place(log).path == first.path
    assert first.journal_path.stat().st_mtime_ns == listed
    assert first.path.is_relative_to(state_dir())
    assert [entry.name for entry in log.parent.iterdir()] == ["log.eval"]
    assert log.read_bytes() == before


def test_a_log_that_has_changed_is_listed_anew_and_never_mixed(log: Path):
    first = open_in_place(log)
    write_eval(log, eval_members([sample("z")]))
    with pytest.raises(UsageError, match="has changed since it was opened"):
        passages(first, "a")
    assert list(RunReader(open_in_place(log)).side.rollouts) == [("z", 0)]
    log.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        open_in_place(log)


def test_a_sample_that_cannot_be_read_says_so_in_its_conversation(tmp_path: Path):
    members = eval_members([sample("a", "I"), sample("b")])
    del members["samples/a_epoch_1.json"]
    members["samples/b_epoch_1.json"] = b"[]"
    folder = open_in_place(write_eval(tmp_path / "log.eval", members))
    assert any(kind is PassageKind.NOTE and "is not in the log" in text for kind, text in passages(folder, "a"))
    assert any(kind is PassageKind.NOTE for kind, _ in passages(folder, "b"))
    assert folder.summary().tally.failed == 1


def test_what_is_no_log_leaves_nothing_behind(tmp_path: Path):
    with pytest.raises(UsageError):
        open_in_place(write_eval(tmp_path / "log.eval", {"header.json": b"{}"}))
    assert not list((tmp_path / "state").rglob("run.json"))


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    """Two thousand samples; the first that failed is the 700th."""
    samples = [sample(f"s{number:04}", "I" if number % 700 == 699 else "C") for number in range(2000)]
    return write_zstd_eval(tmp_path / "long.eval", eval_members(samples))


def test_the_first_failure_is_there_at_once_and_the_rest_follows(long_log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("console.exchange.imports.in_place._LEAD_S", 0.0)
    rest: list[Callable[[], None]] = []
    folder = open_in_place(long_log, background=rest.append)
    early = RunReader(folder).side.rollouts
    assert 700 <= len(early) < 2000
    assert [slot for slot, rollout in early.items() if rollout.is_failure] == [("s0699", 0)]
    assert folder.manifest().cases == 2000
    assert open_in_place(long_log, background=rest.append).path == folder.path
    assert len(rest) == 1  # somebody is at it: nothing is listed twice
    rest[0]()
    whole = RunReader(folder).side.rollouts
    assert list(whole) == [(f"s{number:04}", 0) for number in range(2000)]
    assert folder.is_closed


def test_the_feed_takes_what_follows(long_log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("console.exchange.imports.in_place._LEAD_S", 0.0)

    async def opened() -> int:
        feed = RunFeeds().open(open_in_place(long_log, background=in_thread))
        async with asyncio.timeout(60):
            while len(feed.overview.rollouts) < 2000:
                feed.pump()
                await asyncio.sleep(0.01)
        feed.close()
        return sum(rollout.is_failure for rollout in feed.overview.rollouts.values())

    assert asyncio.run(opened()) == 2


def test_a_listing_that_was_killed_is_begun_anew_and_notes_stay(long_log: Path):
    folder = open_in_place(long_log)
    Notes(folder.path).add(Note(Key("s0699"), "tag", "data"))
    (folder.path / "whole").unlink()
    with folder.journal_path.open("r+b") as journal:
        journal.truncate(10_000)
    assert len(RunReader(folder).side.rollouts) < 2000
    assert len(RunReader(open_in_place(long_log)).side.rollouts) == 2000
    assert Notes(folder.path).annotations()["s0699", 0].tag == "data"


def test_a_disk_that_is_full_while_the_rest_is_listed_ends_nothing(long_log: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(self: GrowingRun, records: object) -> None:
        raise UsageError("cannot be written: No space left on device")

    rest: list[Callable[[], None]] = []
    folder = open_in_place(long_log, background=rest.append)
    with monkeypatch.context() as full:
        full.setattr("console.exchange.imports.in_place._LEAD_S", 0.0)
        full.setattr(GrowingRun, "append", refuse)
        rest[0]()
    assert not folder.is_closed
    assert len(RunReader(open_in_place(long_log)).side.rollouts) == 2000


def test_runs_with_scores_are_known_by_them_wherever_their_first_number_stands(tmp_path: Path):
    samples = [sample(f"s{number}", 1.0 if number < 900 else 0.25) for number in range(901)]
    folder = open_in_place(write_zstd_eval(tmp_path / "log.eval", eval_members(samples)))
    assert folder.manifest().headline
