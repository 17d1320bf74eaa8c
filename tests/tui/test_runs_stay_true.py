"""Home, badge and Live's table are true of every run, whoever plays it and in whatever order its files come and go."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.quick_rows import first_quick
from support.recorded_runs import plain_run
from support.screen_text import assert_until, see, settle, text_of
from textual.app import App
from textual.signal import Signal

from console.config.paths import WorkspacePaths
from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts, Selection
from console.store import run_list
from console.store.atomic import write_atomically
from console.store.journal import JournalWriter
from console.store.journal_line import as_json
from console.store.lock import RunLock
from console.store.run_changes import RunChanges
from console.tui.data import workspace as workspace_module
from console.tui.data.runs import RunLine, read_run, read_runs
from console.tui.data.workspace import THREAD, Workspace
from console.tui.screens.live.screen import LiveScreen

COMES_AFTER: dict[str, set[str]] = {
    "manifest": set(),
    "lock": set(),
    "journal": set(),
    "finish": {"journal"},
    "unlock": {"lock"},
    "delete": set(),
}
"""What may happen to the folder of a run, and what must have happened before; nothing follows its end."""


def orders(done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every order in which it may happen, with the deletion at every point of it and not at all."""
    steps = [step for step, before in COMES_AFTER.items() if step not in done and before <= set(done)]
    if "delete" in done:
        yield done
        return
    if steps == ["delete"]:
        yield done
    for step in steps:
        yield from orders((*done, step))


class WrittenRun:
    """A run whose files a test makes one by one."""

    def __init__(self, root: Path) -> None:
        self.path = root / "2026-01-01T0000-written"
        self.path.mkdir()
        self._lock: RunLock | None = None
        self._writer: JournalWriter | None = None

    def manifest(self) -> None:
        facts, setting = ModelFacts("gpt-x"), Setting()
        manifest = Manifest(self.path.name, at=time.time(), suite="recorded", model=facts, setting=setting, cases=2)
        write_atomically(self.path / "run.json", as_json(manifest))

    def lock(self) -> None:
        self._lock = RunLock(self.path / "lock")

    def journal(self) -> None:
        self._writer = JournalWriter(self.path / "journal.jsonl")
        self._writer.append(Opened(at=time.time(), pid=1))

    def finish(self) -> None:
        assert self._writer is not None
        self._writer.append(Started(at=1.0, key=Key("a"), case=Case("a", "c")))
        self._writer.append(Finished(at=2.0, key=Key("a"), verdict=Verdict(Outcome.PASSED)))
        self._writer.append(Closed(at=3.0, reason="stopped"))
        self._writer.close()

    def unlock(self) -> None:
        assert self._lock is not None
        self._lock.release()
        self._lock = None

    def delete(self) -> None:
        shutil.rmtree(self.path)

    def end(self) -> None:
        """Let go of what is still held."""
        if self._lock is not None:
            self._lock.release()


class LookedAt:
    """The workspace of an app that is open on a runs folder."""

    def __init__(self, root: Path) -> None:
        self.ended: list[str] = []
        self.root = root
        self.workspace = Workspace(
            WorkspacePaths(runs=root),
            changed=Signal(App[Any](), "workspace"),
            hand_over=lambda callback, *arguments: callback(*arguments),
            run_ended=lambda line: self.ended.append(line.state),
        )
        self.workspace.read_runs()
        self.wait()

    def wait(self) -> None:
        for thread in [thread for thread in threading.enumerate() if thread.name == THREAD]:
            thread.join()

    def look(self) -> None:
        self.workspace.look()
        self.wait()

    def assert_true(self, steps: object) -> None:
        listed = read_runs(self.root, lambda _: None)
        assert list(map(_told, self.workspace.runs or ())) == list(map(_told, listed)), steps


def _told(line: RunLine) -> tuple[str, str, int, str]:
    return line.name, line.state, line.tally.finished, line.mistake


def test_the_newest_runs_and_their_number_are_shown_before_all_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_list, "INDEXED_FROM", 50)
    first = plain_run(tmp_path, passed=1).folder.path
    for number in range(59):
        shutil.copytree(first, tmp_path / f"{first.name}-{number}")
    read_runs(tmp_path, lambda _: None)
    shown: list[tuple[int, int, bool]] = []

    def note(looked_at: LookedAt, part: str) -> None:
        workspace = looked_at.workspace
        shown.append((len(workspace.runs or ()), workspace.run_count, workspace.runs_complete))

    looked_at = LookedAt(tmp_path / "empty")
    workspace = looked_at.workspace
    workspace.paths = WorkspacePaths(runs=tmp_path)
    monkeypatch.setattr(workspace.changed, "publish", partial(note, looked_at))
    workspace.read_runs()
    looked_at.wait()
    assert shown == [(40, 60, False), (60, 60, True)]


@pytest.fixture(autouse=True)
def without_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_module, "LEAST_REST", 0)


@pytest.mark.parametrize("looks", first_quick(["after every step", "after the last step", "after every other step"]))
def test_in_every_order_of_events_a_look_tells_the_truth(tmp_path: Path, looks: str) -> None:
    every_order = list(dict.fromkeys(orders()))
    assert len(every_order) > 100
    for number, order in enumerate(every_order):
        root = tmp_path / str(number)
        root.mkdir()
        looked_at = LookedAt(root)
        run = WrittenRun(root)
        for place, step in enumerate(order):
            getattr(run, step)()
            is_last = place == len(order) - 1
            if is_last or looks == "after every step" or (looks == "after every other step" and place % 2):
                looked_at.look()
                looked_at.assert_true(order[: place + 1])
        run.end()


def test_a_run_that_dies_with_its_engine_is_interrupted_at_the_next_look(tmp_path: Path) -> None:
    looked_at, run = LookedAt(tmp_path), WrittenRun(tmp_path)
    for step in (run.manifest, run.lock, run.journal):
        step()
    looked_at.look()
    assert [line.state for line in looked_at.workspace.live] == ["running"]
    run.unlock()  # as the system does when a process dies; no file is touched
    looked_at.look()
    looked_at.assert_true("died")
    assert looked_at.ended == ["interrupted"]


@pytest.mark.parametrize("seen", ["starting", "running"])
def test_between_looks_at_all_runs_only_active_ones_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: str
) -> None:
    monkeypatch.setattr(workspace_module, "LEAST_REST", 1e9)
    run = WrittenRun(tmp_path)
    run.manifest()
    if seen == "running":
        run.lock()
        run.journal()
    looked_at = LookedAt(tmp_path)
    looked_at.look()
    assert [line.state for line in looked_at.workspace.active] == [seen]
    monkeypatch.setattr(RunChanges, "poll", lambda _: pytest.fail("all runs were looked at"))
    if seen == "starting":
        run.journal()
    else:
        run.unlock()
    run.finish()
    looked_at.look()
    looked_at.assert_true(seen)
    assert not looked_at.workspace.active


def test_an_imported_run_that_keeps_its_times_comes_and_is_renamed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    made = plain_run(elsewhere).folder
    root = tmp_path / "runs"
    root.mkdir()
    looked_at = LookedAt(root)
    shutil.copytree(made.path, root / "copy")  # keeps the times of the files
    looked_at.look()
    looked_at.assert_true("imported")
    assert len(looked_at.workspace.runs or ()) == 1
    (root / "copy").rename(root / "renamed")
    looked_at.look()
    looked_at.assert_true("renamed")


def test_a_folder_that_cannot_be_read_for_a_while_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from console.core.fault import UsageError

    plain_run(tmp_path)
    looked_at = LookedAt(tmp_path)

    def refuse(_: RunChanges) -> None:
        raise UsageError("the runs folder cannot be read")

    with monkeypatch.context() as patch:
        patch.setattr(RunChanges, "poll", refuse)
        looked_at.look()
        assert looked_at.workspace.runs_mistake
    looked_at.look()
    looked_at.assert_true("readable again")
    assert not looked_at.workspace.runs_mistake


async def test_a_run_that_a_shell_started_shows_on_home_badge_and_lives_table(opened: Any, workspace: Any) -> None:
    async with opened((160, 45)) as (app, pilot):

        async def look(holds: Callable[[], bool]) -> None:
            def looked() -> bool:
                app.services.workspace.look()
                return holds()

            await assert_until(pilot, looked)

        first = FakeEngine(workspace.root / "runs", cases=60, name="2026-01-01T0000-first")
        second = FakeEngine(workspace.root / "runs", cases=60, name="2026-01-01T0000-second")
        async with first, second:
            await look(lambda: "2 runs live" in text_of(app))
            for engine in (first, second):
                engine.recorder.finish(engine.recorder.start("a"), Outcome.PASSED)
            await look(lambda: [line.tally.passed for line in app.services.workspace.live] == [1, 1])
            app.navigator.open_live(first.recorder.folder)
            await settle(app, pilot)
            assert isinstance(app.screen, LiveScreen)
            assert len(app.screen.several_runs.runs.lines) == 2
            await second.end("stopped")
            await look(lambda: "1 run live" in text_of(app))
            assert not any(line.is_live for line in app.screen.several_runs.runs.lines if line.name.endswith("second"))


async def test_the_strip_of_the_watched_run_is_as_true_as_the_figures_below_it(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    one, other = FakeEngine(root, cases=9, name="2026-01-01T0000-a"), FakeEngine(root, name="2026-01-01T0000-b")
    async with one, other, opened((160, 45)) as (app, pilot):
        app.navigator.open_live(one.recorder.folder)
        await see(pilot, "2 runs live")
        stale = list(app.services.workspace.runs or ())
        one.recorder.finish(one.recorder.start("x"), Outcome.PASSED)
        await assert_until(pilot, lambda: bool(app.screen.feed and app.screen.feed.overview.fold.tally.passed))
        app.services.workspace.runs = stale  # the folder has not been looked at again since
        runs = app.screen.several_runs.runs
        runs.update(app.screen.feed)
        assert [line.tally.passed for line in runs.lines] == [1, 0]
        runs.update(None)
        assert [line.tally.passed for line in runs.lines] == [0, 0], "what the workspace alone knows"


async def test_a_run_that_goes_on_is_not_named_by_the_only_category_so_far(workspace: Any) -> None:
    root = workspace.root / "runs"
    one_category = Selection(categories=("live_simple",))
    async with FakeEngine(root, name="a") as every, FakeEngine(root, name="b", selection=one_category) as selected:
        for engine in (every, selected):
            engine.recorder.finish(engine.recorder.start("x", "live_simple"), Outcome.PASSED)
        labels = [read_run(engine.recorder.folder).label for engine in (every, selected)]
        assert labels == ["recorded", "recorded/live_simple"]
        await every.end("budget")
        assert read_run(every.recorder.folder).label == "recorded", "its other rollouts may be of other categories"
    async with FakeEngine(root, cases=1, name="c") as played:
        played.recorder.finish(played.recorder.start("x", "live_simple"), Outcome.PASSED)
        await played.end()
    assert read_run(played.recorder.folder).label == "recorded/live_simple"
