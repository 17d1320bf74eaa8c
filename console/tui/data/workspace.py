"""`Workspace`: the app's models, suites and runs, read in threads and kept up to date; screens subscribe to its signal.

Nothing is read before the first paint. Live runs are followed by reading only what is new in their journals; while
nothing is live, a look costs one `stat` of the runs folder.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual.signal import Signal

from console.core.fault import UsageError
from console.store.run_queue import RunQueue
from console.store.run_scan import is_newer
from console.store.runs import RunFolder
from console.tui.data import catalog_items
from console.tui.data.catalog_items import Models, RunLine, RunWatch, Suites, WorkspacePaths

LOOK_EVERY_S = 2.0
"""How often live runs, and the folder of runs, are looked at."""
WARNINGS_AFTER_S = 0.5
"""How long after the suites were read packages that offer formats are asked for what is wrong with them."""
GRACE_S = 10.0
"""How long an engine that was started just now may take before its run counts as ended."""
THREAD = "workspace"
"""Name of the threads that read."""


class Workspace:
    """What is there to run and to look at; None where it is not read yet."""

    def __init__(
        self,
        paths: WorkspacePaths,
        *,
        changed: Signal[str],
        in_loop: Callable[..., None],
        run_ended: Callable[[RunLine], None],
    ) -> None:
        """Read nothing until `read_all`.

        Args:
            paths: where models, data and runs are.
            changed: published with `models`, `suites` or `runs` when these changed.
            in_loop: calls a function with arguments in the loop of the reader's screens; does nothing when that ended.
            run_ended: told of each live run that ended.
        """
        self.paths = paths
        self.changed = changed
        """Published with `models`, `suites` or `runs` when these changed."""
        self._in_loop = in_loop
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
        self._looking = False
        self._stamp = 0.0
        self._reading = 0

    # Reading ---------------------------------------------------------------------------------------------------------

    def read_once(self) -> None:
        """Read models, suites and runs unless that was begun before."""
        if not self._reading:
            self.read_all()

    def read_all(self) -> None:
        """Read models, suites and runs again."""
        self.read_runs()
        self.in_thread(self._read_models_and_suites)  # one after the other: threads would only wait for each other

    def read_models(self) -> None:
        """Read the models file again."""
        self.in_thread(self._read_models)

    def read_runs(self) -> None:
        """Read the folder of runs again."""
        self._reading += 1
        self.in_thread(partial(self._read_runs, self._reading))

    def in_thread(self, read: Callable[[], None]) -> None:
        """Read in a thread that never delays quitting; what nobody expected ends the app as any other error would."""

        def read_or_report() -> None:
            try:
                read()
            except Exception as error:
                self.hand_over(_raise, error)

        threading.Thread(target=read_or_report, name=THREAD, daemon=True).start()

    def hand_over(self, take: Callable[..., None], *results: Any) -> None:
        """Give what a thread has read to the screens' own thread, unless the app is leaving."""
        self._in_loop(take, *results)

    def _read_models(self) -> None:
        self.hand_over(self._take_models, catalog_items.read_models(self.paths))

    def _read_models_and_suites(self) -> None:
        self._read_models()
        self.hand_over(self._take_new_suites, catalog_items.read_suites(self.paths))

    def _read_warnings(self, suites: Suites) -> None:
        with_warnings = catalog_items.with_warnings(suites)
        if with_warnings.warnings != suites.warnings:
            self.hand_over(self._take_suites, with_warnings)

    def _read_runs(self, reading: int) -> None:
        lines: list[RunLine] = []
        try:
            root = catalog_items.runs_root(self.paths)
            stamp = root.stat().st_mtime if root.exists() else 0.0
            for batch in catalog_items.read_runs(root):
                lines += batch
                self.hand_over(self._take_runs, reading, list(lines), False, root, stamp)
        except (UsageError, OSError) as error:
            self.hand_over(self._take_no_runs, str(error))
            return
        self.hand_over(self._take_runs, reading, lines, True, root, stamp)

    def _take_models(self, models: Models) -> None:
        self.models = models
        self.changed.publish("models")

    def _take_new_suites(self, suites: Suites) -> None:
        self._take_suites(suites)
        # Later, because asking every installed package for formats would delay drawing what was read.
        asyncio.get_running_loop().call_later(WARNINGS_AFTER_S, self.in_thread, partial(self._read_warnings, suites))

    def _take_suites(self, suites: Suites) -> None:
        self.suites = suites
        self.changed.publish("suites")

    def _take_runs(self, reading: int, lines: list[RunLine], complete: bool, root: Path, stamp: float) -> None:
        if reading != self._reading or (not complete and self.runs and len(lines) < len(self.runs)):
            return
        self.runs, self.runs_complete, self.runs_root, self._stamp, self.runs_mistake = lines, complete, root, stamp, ""
        self.changed.publish("runs")

    def _take_no_runs(self, mistake: str) -> None:
        self.runs, self.runs_complete, self.runs_mistake = [], True, mistake
        self.changed.publish("runs")

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
        """Take up a run that was started from here just now."""
        line = catalog_items.read_run(folder)
        others = [other for other in self.runs or () if other.folder.path != folder.path]
        newer = sum(is_newer(other.dated, line.dated) for other in others)
        self.runs = [*others[:newer], line, *others[newer:]]
        self._watches[folder.path] = RunWatch(folder)
        self.changed.publish("runs")

    def look(self) -> None:
        """Look for news of live runs and for new runs, in a thread; does nothing while the last look is under way."""
        if self._looking or not self.runs_complete:
            return
        for line in [*self.live, *self.queued]:
            self._watches.setdefault(line.folder.path, RunWatch(line.folder))
        self._looking = True
        self.in_thread(partial(self._look, list(self._watches.values())))

    def _look(self, watches: list[RunWatch]) -> None:
        news = [watch.look(time.time()) for watch in watches]
        try:
            stamp = self.runs_root.stat().st_mtime if self.runs_root else self._stamp
        except OSError:
            stamp = self._stamp
        self.hand_over(self._take_news, news, stamp, self._strands())

    def _strands(self) -> bool:
        """Look whether somebody plays the queue."""
        queue = RunQueue(self.runs_root) if self.runs_root else None
        return bool(queue is not None and queue.names() and not queue.is_playing and not queue.is_starting)

    def _take_news(self, news: list[RunLine], stamp: float, stranded: bool) -> None:
        self._looking = False
        if stranded != self.is_stranded:
            self.is_stranded = stranded
            self.changed.publish("runs")
        by_path = {line.folder.path: line for line in news}
        for path, line in by_path.items():
            self._conclude(path, line)
        if by_path:
            self.runs = [by_path.get(line.folder.path, line) for line in self.runs or ()]
            self.changed.publish("runs")
        if stamp != self._stamp:
            self._stamp = stamp
            self.read_runs()

    def _conclude(self, path: Path, line: RunLine) -> None:
        """Stop following a run that ended; one whose engine is still coming up is given time."""
        before, watch = self.find(path), self._watches[path]
        was_live = before is not None and before.is_live
        if not line.is_live and not line.is_queued and (was_live or time.time() - watch.since > GRACE_S):
            del self._watches[path]
            if was_live or line.state == "completed":
                self._run_ended(line)


def _raise(error: Exception) -> None:
    raise error
