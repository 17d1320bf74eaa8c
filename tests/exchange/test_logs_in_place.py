"""An `.eval` is reviewed where it is: lists from its summaries, cases from its samples, and nothing beside it."""

import asyncio
from pathlib import Path

import pytest
from support.inspect_logs import eval_members, sample, write_eval, write_zstd_eval

from console.config.paths import state_dir
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.exchange.import_formats import ImportSettings, find_items
from console.exchange.logs.in_place import open_in_place
from console.exchange.run_reader import RunReader
from console.insight.passage import PassageKind
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
    shown = reader.conversation(reader.side.rollouts[case, rollout])
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
    with pytest.raises(UsageError, match="was changed since it was opened"):
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
