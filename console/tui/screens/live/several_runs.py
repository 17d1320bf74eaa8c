"""Other runs next to the watched one: their list, engine states, and conversations in the grid."""

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
from console.engine.background import start_task
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
"""Seconds between connection attempts."""


class EngineStates:
    """The latest status of each connected engine; connections carry no text, so ten runs are cheap."""

    def __init__(self) -> None:
        self.statuses: dict[Path, Status] = {}
        self._tasks: dict[Path, asyncio.Task[None]] = {}

    def ask(self, paths: Collection[Path]) -> None:
        """Connect to the engines of exactly these runs."""
        for path in [path for path in self._tasks if path not in paths]:
            self._tasks.pop(path).cancel()
            self.statuses.pop(path, None)
        for path in paths:
            if path not in self._tasks:
                self._tasks[path] = start_task(self._listen(path), "engine state")

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
    """The watched run and those shown next to it. Counts come from journals, engine states from connections."""

    def __init__(self, services: Services, watched: RunFolder) -> None:
        self._services = services
        self._watched = watched.path
        self._engines = EngineStates()
        self.lines: list[RunLine] = []
        """The watched run and the others by name; empty if there are no others."""

    @property
    def statuses(self) -> Mapping[Path, Status]:
        return self._engines.statuses

    def update(self, feed: RunFeed | None) -> None:
        """List the watched run and those live, queued, or live since Live was opened; connect to their engines.

        Args:
            feed: the watched run, which is more up to date than the workspace; None if it is not open.
        """
        runs = self._services.workspace.runs or ()
        seen = self._services.navigator.seen_live
        seen.update(line.folder.path for line in runs if line.is_live)
        lines = [line for line in runs if self._belongs(line) or line.folder.path in seen]
        self.lines = sorted(lines, key=lambda line: line.name) if len(lines) > 1 else []
        if feed is not None:
            self.show_watched(feed)
        self._engines.ask([line.folder.path for line in self.lines if line.is_live])

    def show_watched(self, feed: RunFeed) -> None:
        """Show the watched run as it is now, until the workspace lists its end."""
        overview = feed.overview
        if not feed.is_read or not overview.fold.sessions:
            return
        summary = overview.fold.summary(feed.manifest, live=feed.is_live, now=feed.now(), damaged=0, journal_bytes=0)
        self.lines = [
            msgspec.structs.replace(line, summary=summary)
            if line.folder.path == self._watched and line.is_begun_or_waits
            else line
            for line in self.lines
        ]

    def _belongs(self, line: RunLine) -> bool:
        return line.is_begun_or_waits or line.folder.path == self._watched

    def pause(self) -> None:
        """Disconnect while the screen is hidden."""
        self._engines.ask(())

    def open(self, line: RunLine) -> None:
        """Switch to a run, unless it is the watched one or still queued."""
        if line.state == "queued":
            self._services.notify(Content("This run is queued; it can be watched once it starts."))
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
        return {} if self.lines else {"run.next": ""}

    def why_not(self, action: Action) -> str | None:
        """Return the reason that an action is unavailable; None if it is available or not handled here."""
        return "no other run is live" if action.id in ("run.next", "run.prev") and not self.lines else None

    @property
    def on_wall(self) -> list[RunFolder]:
        """The other live runs, whose conversations the grid may show."""
        return [line.folder for line in self.lines if line.is_live and line.folder.path != self._watched]


Changed = Callable[[RunFeed, Changes], None]


class _WallReader:
    """Passes on changes of one run while the grid is visible."""

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
        """Do nothing; the run's figures are drawn from the list of runs."""

    def awaits(self, key: Key) -> bool:
        """Return False: answers of other runs never need an immediate poll."""
        return False


class WallFeeds:
    """Follows the other runs in the grid."""

    def __init__(self, services: Services, *, in_sight: Callable[[], bool], changed: Changed) -> None:
        """Start with no runs; `changed` receives their changes while the grid is visible."""
        self._services, self._in_sight, self._changed = services, in_sight, changed
        self._readers: dict[Path, _WallReader] = {}

    @property
    def feeds(self) -> list[RunFeed]:
        """Feeds of the runs followed, by name."""
        feeds = (reader.pump.feed for _, reader in sorted(self._readers.items()))
        return [feed for feed in feeds if feed is not None]

    def follow(self, runs: Sequence[RunFolder]) -> bool:
        """Follow exactly these runs; return whether that is a change."""
        before = set(self._readers)
        paths = {run.path for run in runs}
        for path in before - paths:
            self._readers.pop(path).pump.close()
        for run in runs:
            if run.path not in self._readers:
                try:
                    self._readers[run.path] = _WallReader(run, self._services, self._in_sight, self._changed)
                except UsageError:  # just deleted; the list of runs will show it
                    continue
        return before != set(self._readers)


class SeveralRuns:
    """The list of runs above the other lists, and the grid with conversations of all runs."""

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
        """Start with no other runs.

        Args:
            services: the app's services.
            watched: the run on the screen.
            controller: the screen's controller.
            panel: the list of runs.
            feed: returns the watched run's feed.
            wall_in_sight: returns whether several conversations of a run, not a replay, are visible.
            wall_fed: called with changes of another run in the grid.
            wall_changed: called when runs are added to or removed from the grid.
        """
        self.runs = LiveRuns(services, watched)
        self._services = services
        self._watched, self._controller, self._panel = watched, controller, panel
        self._feed, self._wall_in_sight, self._wall_changed = feed, wall_in_sight, wall_changed
        self._wall = WallFeeds(services, in_sight=wall_in_sight, changed=wall_fed)

    def update(self) -> bool:
        """Update from the workspace; return whether there are other runs."""
        self.runs.update(self._feed())
        self.follow_wall()
        self._draw()
        return bool(self.runs.lines)

    def show_watched(self, feed: RunFeed) -> None:
        if self.runs.lines:
            self.runs.show_watched(feed)
            self._draw()

    def _draw(self) -> None:
        if self.runs.lines:
            self._panel.show_runs(self.runs.lines, self.runs.statuses, watched=self._watched.path)

    @property
    def words(self) -> Content:
        """Number of live runs; empty if all are live."""
        lines = self.runs.lines
        live = sum(line.is_live for line in lines)
        return muted(f"   {live} live of {len(lines)}") if live < len(lines) else Content.empty()

    def follow_wall(self) -> None:
        """Follow the other live runs while the grid is visible."""
        if self._wall.follow(self.runs.on_wall if self._wall_in_sight() else ()):
            self._controller.beside = self._wall.feeds
            self._wall_changed()

    @property
    def line_to_resume(self) -> RunLine | None:
        """The run under the cursor of the focused list of runs, else the watched one."""
        return self._panel.line if self._panel.has_focus else self._services.workspace.find(self._watched.path)

    def find_feed(self, run: object) -> RunFeed | None:
        return next((feed for feed in (self._feed(), *self._wall.feeds) if feed is run), None)

    def suspend(self) -> None:
        """Disconnect and stop following while the screen is hidden."""
        self.runs.pause()
        self._wall.follow(())
        self._controller.beside = ()
