"""`Workspace`: the app's models, suites and runs, read in threads and kept up to date; screens subscribe to its signal.

Nothing is read before the first paint. Runs are polled, since other processes may play them: each poll finds those
added, changed or deleted (`RunChanges`), and reads only new journal records of live ones. With many runs, all of them
are polled rarely; in between, only the locks of live, starting and queued ones are tested.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Set
from functools import partial
from pathlib import Path

import msgspec
from textual.signal import Signal

from console.config.paths import WorkspacePaths, find_runs_root
from console.core.fault import UsageError, reason_of
from console.store.run_changes import RunChanges
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder
from console.tui.data.models import Models, read_models
from console.tui.data.runs import RunLine, RunWatch, read_newest_runs, read_run, read_runs
from console.tui.data.suites import Suites, read_suites, with_warnings

LOOK_EVERY_S = 1.0
"""Seconds between polls of the runs."""
DRAWN_AFTER_S = 0.05
"""Seconds allowed for drawing models and suites once they are read."""
LONGEST_WAIT_S = 1.0
"""Longest time for which reading all runs is delayed in favor of models and suites; the threads share one core."""
LEAST_REST = 20
"""Minimum pause after a poll, as a multiple of its processor time, which grows with the number of runs."""
WARNINGS_AFTER_S = 0.5
"""Delay after reading the suites before packages that provide formats are checked for errors."""
THREAD = "workspace"
"""Name of the reading threads."""

_Watched = tuple[RunLine, RunWatch]


class Workspace:
    """Models, suites and runs; each is None until it is read."""

    def __init__(
        self,
        paths: WorkspacePaths,
        *,
        changed: Signal[str],
        hand_over: Callable[..., None],
        run_ended: Callable[[RunLine], None],
    ) -> None:
        """Prepare an empty workspace; `read_all` fills it.

        Args:
            paths: where models, data and runs are.
            changed: published with `models`, `suites` or `runs` when these have changed.
            hand_over: calls a function with arguments in the app's loop, unless the app is exiting.
            run_ended: called for each live run that ended.
        """
        self.paths = paths
        self.changed = changed
        self.hand_over = hand_over
        self._run_ended = run_ended
        self.models: Models | None = None
        self.suites: Suites | None = None
        self.runs: list[RunLine] | None = None
        """Newest first; grows while they are read."""
        self.active: list[RunLine] = []
        """Live, starting and queued runs: their states depend on time and their engines too, not only on files."""
        self.runs_complete = False
        self.runs_mistake = ""
        self.runs_root: Path | None = None
        self._watches: dict[Path, RunWatch] = {}
        self.is_stranded = False
        """True if runs are queued but no engine is playing the queue."""
        self._expected: set[Path] = set()
        """Runs started from this app, whose end is announced even if they were never seen live."""
        self._changes: RunChanges | None = None
        self._looking = False
        self._look_after = 0.0
        self._reading = 0
        self._indexed = 0
        self._others_are_drawn = threading.Event()
        self._others_are_drawn.set()

    @property
    def has_graders(self) -> bool:
        """True if there is a judge or a second run, so that graders can be measured; also until the runs are read."""
        if self.runs is None or len(self.runs) > 1:
            return True
        summaries = [line.summary for line in self.runs if line.summary is not None]
        return any(summary.grader is not None and "judge" in summary.grader.models for summary in summaries)

    # Reading ---------------------------------------------------------------------------------------------------------

    def read_once(self) -> None:
        """Read models, suites and runs, unless that has already been started."""
        if not self._reading:
            self.read_all()

    def read_all(self) -> None:
        """Read models, suites and runs again."""
        self._others_are_drawn.clear()
        self.read_runs()
        self.in_thread(self._read_models_and_suites)  # in one thread: two would only contend

    def read_models(self) -> None:
        self.in_thread(self._read_models)

    def read_runs(self) -> None:
        self._reading += 1
        self.in_thread(partial(self._read_runs, self._reading))

    def in_thread(self, read: Callable[[], None]) -> None:
        """Run a reader in a daemon thread; an unexpected error ends the app."""
        threading.Thread(target=read, name=THREAD, daemon=True).start()

    def _read_models(self) -> None:
        self.hand_over(self._set_models, read_models(self.paths))

    def _read_models_and_suites(self) -> None:
        self._read_models()
        self.hand_over(self._set_new_suites, read_suites(self.paths))

    def _read_warnings(self, suites: Suites) -> None:
        complete = with_warnings(suites)
        if complete.warnings != suites.warnings:
            self.hand_over(self._set_suites, complete)

    def _read_runs(self, reading: int) -> None:
        try:
            root = find_runs_root(self.paths.runs, may_be_new=True)
            if newest := read_newest_runs(root):
                self.hand_over(self._set_newest_runs, reading, *newest, root)
                self._others_are_drawn.wait(LONGEST_WAIT_S)
            changes = RunChanges(root)  # created first, so that changes during the read are found later
            lines = read_runs(root, lambda some: self.hand_over(self._set_runs, reading, some, None, root))
        except (UsageError, OSError) as error:
            self.hand_over(self._set_runs_mistake, reason_of(error))
            return
        self.hand_over(self._set_runs, reading, lines, changes, root)

    def _set_models(self, models: Models) -> None:
        self.models = models
        self.changed.publish("models")

    def _set_new_suites(self, suites: Suites) -> None:
        self._set_suites(suites)
        # Deferred, because reading all runs and querying every installed package would delay drawing the suites.
        loop = asyncio.get_running_loop()
        loop.call_later(DRAWN_AFTER_S, self._others_are_drawn.set)
        loop.call_later(WARNINGS_AFTER_S, self.in_thread, partial(self._read_warnings, suites))

    def _set_suites(self, suites: Suites) -> None:
        self.suites = suites
        self.changed.publish("suites")
        if self.runs is not None:
            self._set_lines(self.runs)
            self.changed.publish("runs")

    def _set_newest_runs(self, reading: int, lines: list[RunLine], number: int, root: Path) -> None:
        """Publish the first screenful of runs and the total number."""
        self._indexed = number
        self._set_runs(reading, lines, None, root)

    def _set_runs(self, reading: int, lines: list[RunLine], changes: RunChanges | None, root: Path) -> None:
        """Publish the runs read so far; `changes` is None until all are read."""
        if reading != self._reading or (changes is None and self.runs and len(lines) <= len(self.runs)):
            return
        self._set_lines(lines)
        self.runs_complete, self.runs_root, self.runs_mistake = changes is not None, root, ""
        self._changes = changes or self._changes
        self.changed.publish("runs")

    def _set_runs_mistake(self, mistake: str) -> None:
        self._set_lines([])
        self.runs_complete, self.runs_mistake, self._changes = True, mistake, None
        self.changed.publish("runs")

    @property
    def run_count(self) -> int:
        """Number of runs, known from an index before all are read."""
        read = len(self.runs or ())
        return read if self.runs_complete else max(read, self._indexed)

    # Live runs -------------------------------------------------------------------------------------------------------

    @property
    def live(self) -> list[RunLine]:
        """Runs being played, as of the last poll."""
        return [line for line in self.active if line.is_live]

    def live_now(self) -> list[RunFolder]:
        """Of the runs active at the last poll, return those still being played; opens one file of each."""
        return [line.folder for line in self.active if line.folder.is_live]

    @property
    def queued(self) -> list[RunLine]:
        """Queued runs, in queue order."""
        return sorted((line for line in self.active if line.is_queued), key=lambda line: line.place)

    def find(self, path: Path) -> RunLine | None:
        """Return the line of a run's folder, if listed."""
        return next((line for line in self.runs or () if line.folder.path == path), None)

    def expect(self, folder: RunFolder) -> None:
        """List a run just started from this app."""
        self._expected.add(folder.path)
        self._apply_lines([read_run(folder)])
        self.changed.publish("runs")

    def look(self) -> None:
        """Check the runs for changes in a thread, unless a check is in progress.

        During the pause after a check of all runs, only the locks of active ones are checked.
        """
        changes, rests = self._changes, time.monotonic() < self._look_after
        if self._looking or (rests and not self.active):
            return
        if changes is None:
            if self.runs_mistake and not rests:
                self.read_runs()
            return
        active = [(line, self._watches.setdefault(line.folder.path, RunWatch(line.folder))) for line in self.active]
        self._looking = True
        self.in_thread(partial(self._look_at_locks if rests else self._look, changes, active))

    def _look(self, changes: RunChanges, active: list[_Watched]) -> None:
        begun = time.thread_time()  # processor time, since a busy machine stretches elapsed time without bound
        try:
            changed = changes.poll()
        except UsageError as error:
            self.hand_over(self._set_runs_mistake, str(error))
            self.hand_over(self._begin_pause, time.thread_time() - begun)
            return
        watched = {line.folder.path for line, _ in active}
        news = [watch.look(time.time()) for _, watch in active]
        news += [read_run(run) for run in changed.runs if run.path not in watched]
        self._hand_over_news(changes, news, changed.gone)
        self.hand_over(self._begin_pause, time.thread_time() - begun)

    def _look_at_locks(self, changes: RunChanges, active: list[_Watched]) -> None:
        """Read the active runs whose engines came or went since they were listed, and those starting, which are few."""
        moved = [it for it in active if it[0].state == "starting" or it[0].is_live != it[0].folder.is_live]
        news = [new for line, watch in moved if (new := watch.look(time.time())).state != line.state]
        if news:
            self._hand_over_news(changes, news, [])
        self.hand_over(self._end_look)

    def _hand_over_news(self, changes: RunChanges, news: list[RunLine], gone: Iterable[Path]) -> None:
        deleted = {line.folder.path for line in news if line.summary is None and not _is_there(line.folder)}
        there = [line for line in news if line.folder.path not in deleted]
        self.hand_over(self._apply_news, changes, there, deleted.union(gone), self._strands())

    def _begin_pause(self, worked_s: float) -> None:
        self._look_after = time.monotonic() + LEAST_REST * worked_s - LOOK_EVERY_S
        self._end_look()

    def _end_look(self) -> None:
        self._looking = False

    def _strands(self) -> bool:
        """Return whether runs are queued, but no engine is playing the queue."""
        queue = RunQueue(self.runs_root) if self.runs_root else None
        return bool(queue is not None and queue.names() and not queue.is_playing and not queue.is_starting)

    def _apply_news(self, changes: RunChanges, news: list[RunLine], gone: set[Path], stranded: bool) -> None:
        if changes is not self._changes:
            return  # all runs have been reread meanwhile
        if not (news or gone or stranded != self.is_stranded):
            return
        ended = [line for line in news if self._has_ended(line)]
        self.is_stranded = stranded
        self._apply_lines(news, gone)
        self.changed.publish("runs")
        for line in ended:
            self._expected.discard(line.folder.path)
            self._run_ended(line)

    def _apply_lines(self, news: list[RunLine], gone: Set[Path] = frozenset()) -> None:
        """Replace and add lines, and remove those of deleted runs."""
        by_path = {line.folder.path: line for line in self.runs or ()}
        by_path |= {line.folder.path: line for line in news}
        for path in gone:
            by_path.pop(path, None)
        lines = by_path.values()
        self._set_lines(sorted(lines, key=lambda line: (line.dated.at, line.name), reverse=True) if news else [*lines])

    def _set_lines(self, lines: list[RunLine]) -> None:
        lines = [_sized(line, self.suites) for line in lines]
        self.runs, self.active = lines, [line for line in lines if line.is_begun_or_waits]
        for path in self._watches.keys() - {line.folder.path for line in self.active}:
            del self._watches[path]

    def _has_ended(self, line: RunLine) -> bool:
        """Return whether a run listed as live, or started from this app, has ended."""
        before = self.find(line.folder.path)
        was_live = before is not None and before.is_live
        is_expected = line.folder.path in self._expected and line.state == "completed"
        return not line.is_begun_or_waits and (was_live or is_expected)


def _sized(line: RunLine, suites: Suites | None) -> RunLine:
    """Return a line with the current cases of its suite, as in the leaderboard, if the run records none."""
    summary = line.summary
    if summary is None or summary.suite_cases or suites is None or (suite := suites.find(summary.suite)) is None:
        return line
    cases = {category.name: category.cases for category in suite.categories}
    return msgspec.structs.replace(line, summary=msgspec.structs.replace(summary, suite_cases=cases))


def _is_there(run: RunFolder) -> bool:
    return os.path.lexists(run.manifest_path)
