"""`FeedPump`: polls a run's feed and passes merged changes to a screen, ten times a second.

Four times a second if the terminal is remote or unfocused, or if the last poll took over 50 ms; once a second if the
run is idle; at once when an awaited answer begins. Changes accumulate while the screen is hidden.
"""

import asyncio
import time
from typing import Protocol

from console.core.case import Key
from console.engine.background import start_task
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.services import Services

QUICK_S = 0.04
"""Minimum seconds between polls, regardless of the number of starting answers."""
TICK_S = 0.1
SLOW_TICK_S = 0.25
IDLE_TICK_S = 1.0
SLOW_TURN_S = 0.05
LOADING_PAUSE_S = 0.004
LOADING_DRAW_S = 0.15
"""Minimum seconds between draws while a run is loading, since drawing takes longer than reading."""
SHARE_S = (0.012, 0.1)
"""Minimum and maximum seconds of reading per poll; it gets as much time as drawing, to keep pace on a busy machine."""


class FeedReader(Protocol):
    """Receiver of a run's changes, such as `RunScreen`."""

    @property
    def is_current(self) -> bool:
        """True if this is the current screen."""
        ...

    def fed(self, changes: Changes) -> None:
        """Process changes."""
        ...

    def ticked(self) -> None:
        """Called after each poll while the screen is shown."""
        ...

    def awaits(self, key: Key) -> bool:
        """Return whether the first token of this conversation warrants an immediate poll."""
        ...


class FeedPump:
    """Follows a run's own feed or a replay of it."""

    def __init__(self, reader: FeedReader, services: Services) -> None:
        self._reader = reader
        self._services = services
        self.feed: RunFeed | None = None
        """The feed shown: the run's own or a replay of it."""
        self.whole_feed: RunFeed | None = None
        """The run's own feed, kept open during a replay."""
        self._task: asyncio.Task[None] | None = None
        self._told = ""
        """The problem of the feed that was shown last."""
        self._pending = Changes()
        self._last_turn_s = self._turned_at = self._drawn_at = 0.0

    def open(self, run: RunFolder) -> None:
        """Follow a run.

        Raises:
            UsageError: the folder is not a run.
        """
        self.whole_feed = self._services.feeds.open(run)
        self.follow(self.whole_feed)

    def follow(self, feed: RunFeed) -> None:
        """Follow a feed from its beginning."""
        self.feed = feed
        feed.subscribe(self._receive)
        self._reader.fed(Changes(slots=set(feed.overview.rollouts), status=True, rewound=True))
        self._task = start_task(self._turn_forever(feed), "follow")

    def release(self) -> None:
        """Stop following; the run's own feed stays open."""
        if self._task is not None:
            self._task.cancel()
        if self.feed is not None:
            self.feed.unsubscribe(self._receive)
            self.feed = None
        self._pending = Changes()

    def close(self) -> None:
        """Stop following and close the run's own feed."""
        self.release()
        if self.whole_feed is not None:
            self._services.feeds.close(self.whole_feed)
            self.whole_feed = None

    def wake(self) -> None:
        """Poll at once, after a request by the user."""
        if self.feed is not None:
            self._turn(self.feed)

    @property
    def keeps_up(self) -> bool:
        """True if there is time to poll as soon as any answer begins."""
        return self.feed is not None and not self._is_slow(self.feed)

    def deliver(self) -> None:
        if self.feed is not None and self._pending:
            changes, self._pending = self._pending, Changes()
            self._reader.fed(changes)
            self._drawn_at = time.perf_counter()

    async def _turn_forever(self, feed: RunFeed) -> None:
        """Poll until the feed is replaced.

        A loop instead of chained timers: on a busy machine Textual's `set_timer` may never fire, since its time can
        pass before it first checks the clock, and the screen would freeze.
        """
        while self.feed is feed:
            self._turn(feed)
            pause = self._pause(feed)
            await asyncio.sleep(min(pause, QUICK_S))
            await feed.wakeup.wait(pause - QUICK_S, self._reader.awaits)

    def _pause(self, feed: RunFeed) -> float:
        if feed.has_more or not feed.is_read:
            return LOADING_PAUSE_S
        if not feed.is_busy:
            return IDLE_TICK_S
        return SLOW_TICK_S if self._is_slow(feed) else TICK_S

    def _is_slow(self, feed: RunFeed) -> bool:
        return feed.remote or not self._services.has_focus or self._last_turn_s > SLOW_TURN_S

    def _turn(self, feed: RunFeed) -> None:
        begun = time.perf_counter()
        least, most = SHARE_S
        feed.pump(min(max(begun - self._turned_at, least), most) if feed.has_more else least)
        if self._reader.is_current:
            self._tell_problem(feed)
            self._reader.ticked()
        self._turned_at = time.perf_counter()
        self._last_turn_s = self._turned_at - begun

    def _tell_problem(self, feed: RunFeed) -> None:
        """Show once why the journal cannot be read on."""
        problem = feed.problem
        if problem is not None and str(problem) != self._told:
            self._services.refuse(problem)
        self._told = "" if problem is None else str(problem)

    def _receive(self, changes: Changes) -> None:
        self._pending.merge(changes)
        is_loading = self.feed is not None and not self.feed.is_read
        if self._reader.is_current and not (is_loading and time.perf_counter() - self._drawn_at < LOADING_DRAW_S):
            self.deliver()
