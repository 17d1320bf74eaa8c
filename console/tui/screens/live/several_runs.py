"""The runs beside the watched one: which they are, what their engines say, and their conversations on the wall."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partialmethod
from pathlib import Path

import msgspec
from textual.content import Content

from console.core.case import Key
from console.core.fault import UsageError
from console.core.live import Command, Status
from console.engine.attach import EngineLink
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.data.runs import RunLine
from console.tui.screens.feed_pump import FeedPump
from console.tui.screens.live.controller import LiveController
from console.tui.screens.live.lists import LiveRunsPanel
from console.tui.services import Services
from console.tui.symbols import muted

RETRY_S = 2.0
"""Seconds after a refused connection until the next try."""


class EngineStates:
    """The latest status of each run that is asked, over a connection without text: ten runs cost only their figures."""

    def __init__(self) -> None:
        self.statuses: dict[Path, Status] = {}
        self._tasks: dict[Path, asyncio.Task[None]] = {}

    def ask(self, paths: Collection[Path]) -> None:
        """Ask exactly the engines of these runs from now on."""
        for path in [path for path in self._tasks if path not in paths]:
            self._tasks.pop(path).cancel()
            self.statuses.pop(path, None)
        for path in paths:
            if path not in self._tasks:
                self._tasks[path] = asyncio.get_running_loop().create_task(self._listen(path), name="engine state")

    async def _listen(self, path: Path) -> None:
        while True:
            link = await EngineLink.connect(path)
            if link is not None:
                link.send(Command("state_only"))
                with contextlib.suppress(OSError):
                    try:
                        async for frame in link.frames():
                            if isinstance(frame, Status):
                                self.statuses[path] = frame
                    finally:
                        link.close()
                self.statuses.pop(path, None)
            await asyncio.sleep(RETRY_S)


class LiveRuns:
    """The runs beside the watched one. Counts come from the journals, what only an engine knows from its connection."""

    def __init__(self, services: Services, watched: RunFolder) -> None:
        self._services = services
        self._watched = watched.path
        self._engines = EngineStates()
        self._seen: set[Path] = set()
        """Runs that have been live while this screen was there: that they ended is seen here, too."""
        self.lines: list[RunLine] = []
        """The watched run and those beside it, by name; none when it is alone."""

    @property
    def statuses(self) -> Mapping[Path, Status]:
        """What the engines say of themselves."""
        return self._engines.statuses

    def update(self, feed: RunFeed | None) -> None:
        """List the watched run and what is live, waits, was live here before, or was started here; ask their engines.

        Args:
            feed: the watched run, which is ahead of what the workspace has read of it; None: it is not open.
        """
        runs = self._services.workspace.runs or ()
        self._seen |= {line.folder.path for line in runs if line.is_live}
        seen = self._seen | {run.path for run in self._services.navigator.launched}
        lines = [line for line in runs if self._belongs(line) or line.folder.path in seen]
        self.lines = sorted(lines, key=lambda line: line.name) if len(lines) > 1 else []
        if feed is not None:
            self.show_watched(feed)
        self._engines.ask([line.folder.path for line in self.lines if line.is_live])

    def show_watched(self, feed: RunFeed) -> None:
        """Show the watched run as it is now, not as the workspace has read it last."""
        overview = feed.overview
        if not feed.is_live or not feed.is_read or not overview.fold.sessions:
            return
        summary = overview.fold.summary(feed.manifest, live=True, now=feed.now(), damaged=0, journal_bytes=0)
        self.lines = [
            msgspec.structs.replace(line, summary=summary) if line.folder.path == self._watched else line
            for line in self.lines
        ]

    def _belongs(self, line: RunLine) -> bool:
        return line.is_begun_or_waits or line.folder.path == self._watched

    def pause(self) -> None:
        """Ask the engines nothing while nobody looks."""
        self._engines.ask(())

    def open(self, line: RunLine) -> None:
        """Watch a run, unless it is the watched one or nothing of it can be watched yet."""
        if line.state == "queued":
            self._services.notify(Content("This run waits in the queue; it can be watched once it runs."))
        elif line.folder.path != self._watched:
            self._services.navigator.switch_live(line.folder)

    def _step(self, by: int) -> None:
        lines = [line for line in self.lines if line.is_live or line.folder.path == self._watched]
        if len(lines) < 2:
            lines = [line for line in self.lines if line.state != "queued"]
        places = [place for place, line in enumerate(lines) if line.folder.path == self._watched]
        if len(lines) < 2 or not places:
            self._services.notify(Content("No other run is live. L starts one."))
        else:
            self.open(lines[(places[0] + by) % len(lines)])

    action_run_next = partialmethod(_step, 1)
    action_run_prev = partialmethod(_step, -1)

    def key_words(self) -> dict[str, str]:
        """Name the keys of the list only where there is one."""
        return {} if self.lines else {"run.next": ""}

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None for one that is no business of this list."""
        return "no other run is live" if action.id in ("run.next", "run.prev") and not self.lines else None

    @property
    def on_wall(self) -> list[RunFolder]:
        """The other runs that are live, whose conversations the wall shows beside those of the watched one."""
        return [line.folder for line in self.lines if line.is_live and line.folder.path != self._watched]


Changed = Callable[[RunFeed, Changes], None]


class _WallReader:
    """Hands on what is new of one run, while the wall is in sight."""

    def __init__(self, run: RunFolder, services: Services, in_sight: Callable[[], bool], changed: Changed) -> None:
        self._in_sight, self._changed = in_sight, changed
        self.pump = FeedPump(self, services)
        self.pump.open(run)

    @property
    def is_current(self) -> bool:
        return self._in_sight()

    def fed(self, changes: Changes) -> None:
        if self.pump.feed is not None:
            self._changed(self.pump.feed, changes)

    def ticked(self) -> None:
        """Nothing: figures of this run are drawn from the list of runs."""

    def awaits(self, key: Key) -> bool:
        """No answer of another run is worth a turn of its own."""
        return False


class WallFeeds:
    """Follows the runs whose conversations are on the wall besides those of the watched run."""

    def __init__(self, services: Services, *, in_sight: Callable[[], bool], changed: Changed) -> None:
        """Follow nothing yet; `changed` is told what is new of a run while the wall is in sight."""
        self._services, self._in_sight, self._changed = services, in_sight, changed
        self._readers: dict[Path, _WallReader] = {}

    @property
    def feeds(self) -> list[RunFeed]:
        """The runs that are followed, in the order of their names."""
        feeds = (reader.pump.feed for _, reader in sorted(self._readers.items()))
        return [feed for feed in feeds if feed is not None]

    def follow(self, runs: Sequence[RunFolder]) -> bool:
        """Follow exactly these runs from now on; say whether that is a change."""
        before = set(self._readers)
        paths = {run.path for run in runs}
        for path in before - paths:
            self._readers.pop(path).pump.close()
        for run in runs:
            if run.path not in self._readers:
                try:
                    self._readers[run.path] = _WallReader(run, self._services, self._in_sight, self._changed)
                except UsageError:  # deleted a moment ago: the list of runs says so
                    continue
        return before != set(self._readers)


class SeveralRuns:
    """The strips of all runs above the lists, and the wall on which the conversations of all of them are."""

    def __init__(
        self,
        services: Services,
        watched: RunFolder,
        controller: LiveController,
        panel: LiveRunsPanel,
        *,
        feed: Callable[[], RunFeed | None],
        wall_in_sight: Callable[[], bool],
        wall_fed: Changed,
        wall_changed: Callable[[], None],
    ) -> None:
        """Show no other run yet.

        Args:
            services: what the app does for screens.
            watched: the run on the screen.
            controller: the rules of the screen.
            panel: the strips.
            feed: returns what is shown of the watched run.
            wall_in_sight: returns whether several conversations of a run as it is are in sight.
            wall_fed: told what is new of another run that is on the wall.
            wall_changed: called when other runs come to the wall, or go.
        """
        self.runs = LiveRuns(services, watched)
        self._watched, self._controller, self._panel = watched, controller, panel
        self._feed, self._wall_in_sight, self._wall_changed = feed, wall_in_sight, wall_changed
        self._wall = WallFeeds(services, in_sight=wall_in_sight, changed=wall_fed)

    def update(self) -> bool:
        """Take over what the workspace has read anew; say whether there are other runs."""
        self.runs.update(self._feed())
        self.follow_wall()
        self._draw()
        return bool(self.runs.lines)

    def show_watched(self, feed: RunFeed) -> None:
        """Show the strip of the watched run as it is now."""
        if self.runs.lines:
            self.runs.show_watched(feed)
            self._draw()

    def _draw(self) -> None:
        if self.runs.lines:
            self._panel.show_runs(self.runs.lines, self.runs.statuses, watched=self._watched.path)

    @property
    def words(self) -> Content:
        """How many of the runs are live; empty where all of them are."""
        lines = self.runs.lines
        live = sum(line.is_live for line in lines)
        return muted(f"   {live} live of {len(lines)}") if live < len(lines) else Content.empty()

    def follow_wall(self) -> None:
        """Follow the other live runs while the wall is in sight, which shows conversations of all of them."""
        if self._wall.follow(self.runs.on_wall if self._wall_in_sight() else ()):
            self._controller.beside = self._wall.feeds
            self._wall_changed()

    def find_feed(self, run: object) -> RunFeed | None:
        """Return the feed of a run that a tile shows."""
        return next((feed for feed in (self._feed(), *self._wall.feeds) if feed is run), None)

    def suspend(self) -> None:
        """Ask no engine and follow no other run while nobody looks."""
        self.runs.pause()
        self._wall.follow(())
        self._controller.beside = ()
