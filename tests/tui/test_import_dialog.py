"""Importing from Home: paths in, progress and what became of each file, and the first run one key away."""

from pathlib import Path
from typing import Any

import pytest
from support.inspect_logs import sample, write_json_log
from support.quick_rows import first_size
from support.screen_text import assert_until, see, text_of
from textual.widgets import Input

from console.core.fault import UsageError
from console.exchange.imports.formats import ImportItem, import_formats
from console.exchange.imports.importing import CheckedTotal, ImportReport
from console.exchange.imports.log import Problem
from console.tui.data.import_session import ImportSession
from console.tui.dialogs.import_dialog import ImportDialog


def logs(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    write_json_log(folder / "one.json", [sample("a"), sample("b", "I")])
    write_json_log(folder / "with space.json", [sample("c")])
    (folder / "broken.json").write_text('{"version": 9, "status": "success", "eval": {"model": "m"}}')
    return folder


async def test_paths_are_imported_and_the_first_run_is_reviewed(opened: Any, tmp_path: Path) -> None:
    folder = logs(tmp_path / "logs")
    async with opened((160, 45)) as (app, pilot):
        await pilot.press("i")
        await pilot.pause()
        assert isinstance(app.screen, ImportDialog)
        app.screen.query_one(Input).value = f"{folder}/one.json '{folder}/with space.json' {folder}/broken.json"
        await see(pilot, "enter reviews the first", "enter")
        text = text_of(app)
        assert "1 passed, 1 failed" in text
        assert "broken.json" in text
        assert "is a log of version 9" in text
        await see(pilot, lambda: getattr(app.screen, "where", "") == "review", "enter")
        await assert_until(pilot, lambda: "imported" in text_of(app) and "mock/model" in text_of(app))


async def test_a_path_that_is_not_there_is_said_and_escape_leaves(opened: Any, tmp_path: Path) -> None:
    async with opened((80, 24)) as (app, pilot):
        await pilot.press("i")
        await pilot.pause()
        app.screen.query_one(Input).value = str(tmp_path / "nothing")
        await see(pilot, "does not exist", "enter")
        assert "esc leaves" in text_of(app)
        await see(pilot, lambda: getattr(app.screen, "where", "") == "home", "escape")


def test_an_import_that_is_stopped_goes_on_another_time(tmp_path: Path) -> None:
    samples = [sample(f"s{number}") for number in range(50)]
    path = write_json_log(tmp_path / "log.json", samples)
    first = ImportSession(tmp_path / "runs", None)
    first.stop()
    first.start(str(path))
    _wait(first)
    assert first.reports == []
    second = ImportSession(tmp_path / "runs", None)
    second.start(str(path))
    _wait(second)
    assert [report.samples for report in second.reports] == [50]


def _wait(session: ImportSession) -> None:
    assert session.thread is not None
    session.thread.join(30)
    assert not session.is_running


@pytest.mark.parametrize(("text", "words"), [("", "no path"), ("'open", "quotes"), ("nothing-here", "does not exist")])
def test_what_is_no_list_of_paths_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ImportSession(tmp_path / "runs", None).start(text)


class LongImport(ImportSession):
    """An import in the middle of its second file, with a long report of the first."""

    def start(self, text: str) -> None:
        """Begin nothing: it stands still."""
        first, second = self.items = [
            ImportItem(Path(name), import_formats()["chat"]) for name in (text, "second.json")
        ]
        problems = [Problem(f"sample {number}", "is odd") for number in range(40)]
        report = ImportReport(first.path.name, "run", "tool", "1", "suite", "m", False, 1, {}, 0, {}, problems, [])
        self.reports, self.current, self.done, self.planned = [report] * 9, second, 1200, 4000

    @property
    def is_running(self) -> bool:
        """Always."""
        return True


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_how_far_it_is_stays_in_sight_below_long_reports(size: tuple[int, int], opened: Any, tmp_path: Path):
    async with opened(size) as (app, pilot):
        app.push_screen(ImportDialog(lambda: LongImport(tmp_path, None)))
        await assert_until(pilot, lambda: isinstance(app.screen, ImportDialog))
        app.screen.query_one(Input).value = "first.json"
        await see(pilot, "esc stops", "enter")
        assert "second.json  1,200 of 4,000 samples   file 2 of 2" in text_of(app).replace("\u202f", " ")


class FinishedImport(ImportSession):
    """An import that has ended, with totals that agree, differ and were not computed."""

    def start(self, text: str) -> None:
        """Begin nothing: it has ended."""
        totals = [
            CheckedTotal("match", "accuracy", 0.5, 0.5),
            CheckedTotal("match", "mean", 0.5, 0.25),
            CheckedTotal("match", "elegance", 0.75, None),
        ]
        report = ImportReport(text, "run", "tool", "1", "suite", "m", False, 2, {}, 0, {}, [], totals, {"match": 2})
        self.reports = [report]


async def test_totals_that_were_not_computed_and_partial_scores_are_in_words(opened: Any, tmp_path: Path):
    async with opened((120, 30)) as (app, pilot):
        app.push_screen(ImportDialog(lambda: FinishedImport(tmp_path, None)))
        await assert_until(pilot, lambda: isinstance(app.screen, ImportDialog))
        app.screen.query_one(Input).value = "log.json"
        await see(pilot, "elegance", "enter")
        shown = text_of(app)
    assert "match accuracy: 0.5 in the log, 0.5 here =" in shown
    assert "match mean: 0.5 in the log, 0.25 here ≠" in shown
    assert "match elegance: 0.75 in the log not computed" in shown
    assert "2 rollouts have a match between 0 and 1: counted as failed" in shown
