"""`Workspace`: the app's models, suites and runs, read in threads and kept up to date; screens subscribe to its signal.

Nothing is read before the first paint. Runs stay true whoever plays them: each look finds those that came, changed or
went (`RunChanges`), and reads of a live one only what is new in its journal.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Set
from functools import partial
from pathlib import Path

from textual.signal import Signal

from console.config.paths import WorkspacePaths, find_runs_root
from console.core.fault import UsageError
from console.store.run_changes import RunChanges
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder
from console.tui.data.models import Models, read_models
from console.tui.data.runs import RunLine, RunWatch, read_newest_runs, read_run, read_runs
from console.tui.data.suites import Suites, read_suites, with_warnings

LOOK_EVERY_S = 1.0
"""How often the runs are looked at."""
DRAWN_AFTER_S = 0.05
"""How long after models and suites were read they are drawn."""
LONGEST_WAIT_S = 1.0
"""How long the runs that no screen has room for wait for models and suites to be drawn, as threads share one core."""
LEAST_REST = 20
"""So many times as long as a look has taken, none is begun after it: of very many runs a look takes a while."""
WARNINGS_AFTER_S = 0.5
"""How long after the suites were read packages that offer formats are asked for what is wrong with them."""
THREAD = "workspace"
"""Name of the threads that read."""


class Workspace:
    """What is there to run and to look at; None where it is not read yet."""

    def __init__(
        self,
        paths: WorkspacePaths,
        *,
        changed: Signal[str],
        hand_over: Callable[..., None],
        run_ended: Callable[[RunLine], None],
    ) -> None:
        """Read nothing until `read_all`.

        Args:
            paths: where models, data and runs are.
            changed: published with `models`, `suites` or `runs` when these changed.
            hand_over: calls a function with arguments in the loop of the reader's screens, unless the app is leaving.
            run_ended: told of each live run that ended.
        """
        self.paths = paths
        self.changed = changed
        """Published with `models`, `suites` or `runs` when these changed."""
        self.hand_over = hand_over
        """Gives what a thread has read to the screens' own thread."""
        self._run_ended = run_ended
        self.models: Models | None = None
        self.suites: Suites | None = None
        self.runs: list[RunLine] | None = None
        """Newest first; grows while they are read."""
        self.runs_complete = False
        self.runs_mistake = ""
        self.runs_root: Path | None = None
        self._watches: dict[Path, RunWatch] = {}
        self.is_stranded = False
        """Whether runs wait in the queue that nobody plays."""
        self._expected: set[Path] = set()
        """Runs started from here whose end is to be announced, though nobody may have seen them live."""
        self._changes: RunChanges | None = None
        self._looking = False
        self._look_after = 0.0
        self._reading = 0
        self._indexed = 0
        self._others_are_drawn = threading.Event()
        self._others_are_drawn.set()

    # Reading ---------------------------------------------------------------------------------------------------------

    def read_once(self) -> None:
        """Read models, suites and runs unless that was begun before."""
        if not self._reading:
            self.read_all()

    def read_all(self) -> None:
        """Read models, suites and runs again."""
        self._others_are_drawn.clear()
        self.read_runs()
        self.in_thread(self._read_models_and_suites)  # one after the other: threads would only wait for each other

    def read_models(self) -> None:
        self.in_thread(self._read_models)

    def read_runs(self) -> None:
        self._reading += 1
        self.in_thread(partial(self._read_runs, self._reading))

    def in_thread(self, read: Callable[[], None]) -> None:
        """Read in a thread that never delays quitting; what nobody expected ends the app as any other error would."""

        def read_or_report() -> None:
            try:
                read()
            except Exception as error:
                self.fail(error)

        threading.Thread(target=read_or_report, name=THREAD, daemon=True).start()

    def fail(self, error: Exception) -> None:
        """End the app by an error in a thread or a task, as one in a callback would; may be called from anywhere."""
        self.hand_over(_raise, error)

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
            changes = RunChanges(root)  # before all are read: what changes meanwhile is found later
            lines = read_runs(root, lambda some: self.hand_over(self._set_runs, reading, some, None, root))
        except (UsageError, OSError) as error:
            self.hand_over(self._set_runs_mistake, str(error))
            return
        self.hand_over(self._set_runs, reading, lines, changes, root)

    def _set_models(self, models: Models) -> None:
        self.models = models
        self.changed.publish("models")

    def _set_new_suites(self, suites: Suites) -> None:
        self._set_suites(suites)
        # Later, because reading all runs, and asking every installed package for formats, would delay drawing this.
        loop = asyncio.get_running_loop()
        loop.call_later(DRAWN_AFTER_S, self._others_are_drawn.set)
        loop.call_later(WARNINGS_AFTER_S, self.in_thread, partial(self._read_warnings, suites))

    def _set_suites(self, suites: Suites) -> None:
        self.suites = suites
        self.changed.publish("suites")

    def _set_newest_runs(self, reading: int, lines: list[RunLine], number: int, root: Path) -> None:
        """Show what a screen has room for, and how many there are, before all are read."""
        self._indexed = number
        self._set_runs(reading, lines, None, root)

    def _set_runs(self, reading: int, lines: list[RunLine], changes: RunChanges | None, root: Path) -> None:
        """Show runs that were read; `changes` comes with all of them, None while more are to follow."""
        if reading != self._reading or (changes is None and self.runs and len(lines) <= len(self.runs)):
            return
        self.runs, self.runs_complete, self.runs_root, self.runs_mistake = lines, changes is not None, root, ""
        self._changes = changes or self._changes
        self.changed.publish("runs")

    def _set_runs_mistake(self, mistake: str) -> None:
        self.runs, self.runs_complete, self.runs_mistake, self._changes = [], True, mistake, None
        self.changed.publish("runs")

    @property
    def run_count(self) -> int:
        """How many runs there are, which an index knows before all are read."""
        read = len(self.runs or ())
        return read if self.runs_complete else max(read, self._indexed)

    # Live runs -------------------------------------------------------------------------------------------------------

    @property
    def live(self) -> list[RunLine]:
        """Runs that an engine plays now."""
        return [line for line in self.runs or () if line.is_live]

    @property
    def queued(self) -> list[RunLine]:
        """Runs that wait in the queue, the next one first."""
        return sorted((line for line in self.runs or () if line.is_queued), key=lambda line: line.place)

    def find(self, path: Path) -> RunLine | None:
        """Return the line of a run folder."""
        return next((line for line in self.runs or () if line.folder.path == path), None)

    def expect(self, folder: RunFolder) -> None:
        """List a run that was started from here just now."""
        self._expected.add(folder.path)
        self._apply_lines([read_run(folder)])
        self.changed.publish("runs")

    def look(self) -> None:
        """Look at the runs, in a thread; does nothing while the last look is under way."""
        changes = self._changes
        if self._looking or time.monotonic() < self._look_after:
            return
        if changes is None:
            if self.runs_mistake:
                self.read_runs()
            return
        for line in self.runs or ():
            if line.is_begun_or_waits:  # time and its engine's process decide how it stands, not its files alone
                self._watches.setdefault(line.folder.path, RunWatch(line.folder))
        self._looking = True
        self.in_thread(partial(self._look, changes, dict(self._watches)))

    def _look(self, changes: RunChanges, watches: dict[Path, RunWatch]) -> None:
        begun = time.monotonic()
        try:
            changed = changes.poll()
        except UsageError as error:
            self.hand_over(self._set_runs_mistake, str(error))
            self.hand_over(self._rest_from, begun)
            return
        news = [watch.look(time.time()) for watch in watches.values()]
        news += [read_run(run) for run in changed.runs if run.path not in watches]
        gone = {line.folder.path for line in news if line.summary is None and not _is_there(line.folder)}
        news = [line for line in news if line.folder.path not in gone]
        self.hand_over(self._apply_news, changes, news, gone.union(changed.gone), self._strands())
        self.hand_over(self._rest_from, begun)

    def _rest_from(self, begun: float) -> None:
        now = time.monotonic()
        self._looking, self._look_after = False, now + LEAST_REST * (now - begun) - LOOK_EVERY_S

    def _strands(self) -> bool:
        """Look whether somebody plays the queue."""
        queue = RunQueue(self.runs_root) if self.runs_root else None
        return bool(queue is not None and queue.names() and not queue.is_playing and not queue.is_starting)

    def _apply_news(self, changes: RunChanges, news: list[RunLine], gone: set[Path], stranded: bool) -> None:
        if changes is not self._changes:
            return  # all runs have been read anew meanwhile
        ended = [line for line in news if self._has_ended(line)]
        is_new = bool(news or gone or stranded != self.is_stranded)
        self.is_stranded = stranded
        self._apply_lines(news, gone)
        if is_new:
            self.changed.publish("runs")
        for line in ended:
            self._expected.discard(line.folder.path)
            self._run_ended(line)

    def _apply_lines(self, news: list[RunLine], gone: Set[Path] = frozenset()) -> None:
        """Replace lines, add new ones in their place, and take away those of runs that are gone."""
        by_path = {line.folder.path: line for line in self.runs or ()}
        by_path |= {line.folder.path: line for line in news}
        for path in gone:
            by_path.pop(path, None)
        for path in [path for path in self._watches if path not in by_path or not by_path[path].is_begun_or_waits]:
            del self._watches[path]
        lines = by_path.values()
        self.runs = sorted(lines, key=lambda line: (line.dated.at, line.name), reverse=True) if news else [*lines]

    def _has_ended(self, line: RunLine) -> bool:
        """Whether a run has ended since it was listed last; one that ended by itself before is no news."""
        before = self.find(line.folder.path)
        was_live = before is not None and before.is_live
        is_expected = line.folder.path in self._expected and line.state == "completed"
        return not line.is_begun_or_waits and (was_live or is_expected)


def _is_there(run: RunFolder) -> bool:
    return os.path.lexists(run.manifest_path)


def _raise(error: Exception) -> None:
    raise error
