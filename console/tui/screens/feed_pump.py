"""`FeedPump`: turns a run's feed for a screen, and hands on merged changes, ten times a second.

Four times a second when the terminal is remote, when it has lost the focus, or when the last turn took over 50 ms;
hardly ever when the run stands still; at once when an answer begins that the reader waits for. A screen that is not
shown collects its changes until it is.
"""

import asyncio
import time
from typing import Protocol

from console.core.case import Key
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.services import Services

QUICK_S = 0.04
"""Least time between two turns, however many answers begin."""
TICK_S = 0.1
SLOW_TICK_S = 0.25
IDLE_TICK_S = 1.0
SLOW_TURN_S = 0.05
LOADING_PAUSE_S = 0.004
LOADING_DRAW_S = 0.15
"""While a run is read, what is new of it is drawn this often: drawing takes more time than reading does."""
SHARE_S = (0.012, 0.1)
"""Least and most time for facts in one turn: as much as drawing takes, or a busy machine would draw and hardly read."""


class FeedReader(Protocol):
    """What shows a run: `RunScreen`."""

    @property
    def is_current(self) -> bool:
        """Whether it is the screen in sight."""
        ...

    def fed(self, changes: Changes) -> None:
        """Take over what is new."""
        ...

    def ticked(self) -> None:
        """Called after each turn while the screen is shown."""
        ...

    def awaits(self, key: Key) -> bool:
        """Whether the beginning of an answer in this conversation is worth a turn of its own."""
        ...


class FeedPump:
    """Follows one run's own feed, or a replay of it."""

    def __init__(self, reader: FeedReader, services: Services) -> None:
        """Follow nothing until `open`."""
        self._reader = reader
        self._services = services
        self.feed: RunFeed | None = None
        """What is shown: the run's feed, or a replay of it."""
        self.whole_feed: RunFeed | None = None
        """The run's own feed, kept while a replay is shown."""
        self._task: asyncio.Task[None] | None = None
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
        """Show this feed from now on, from the beginning."""
        self.feed = feed
        feed.subscribe(self._receive)
        self._reader.fed(Changes(slots=set(feed.overview.rollouts), status=True, rewound=True))
        self._task = asyncio.get_running_loop().create_task(self._turn_forever(feed), name="follow")

    def release(self) -> None:
        """Show no feed any more; the run's own stays open."""
        if self._task is not None:
            self._task.cancel()
        if self.feed is not None:
            self.feed.unsubscribe(self._receive)
            self.feed = None
        self._pending = Changes()

    def close(self) -> None:
        """Show no feed any more, and close the run's own."""
        self.release()
        if self.whole_feed is not None:
            self._services.feeds.close(self.whole_feed)
            self.whole_feed = None

    def wake(self) -> None:
        """Turn at once, because the reader has asked for something."""
        if self.feed is not None:
            self._turn(self.feed)

    @property
    def keeps_up(self) -> bool:
        """Whether there is time for a turn at every answer that begins."""
        return self.feed is not None and not self._is_slow(self.feed)

    def deliver(self) -> None:
        """Hand on what has been collected."""
        if self.feed is not None and self._pending:
            changes, self._pending = self._pending, Changes()
            self._reader.fed(changes)
            self._drawn_at = time.perf_counter()

    async def _turn_forever(self, feed: RunFeed) -> None:
        """Turn for as long as the screen is there.

        Not by one timer after the other: Textual's `set_timer` never calls back when its time has passed before it
        first looks at the clock, which a busy machine brings about, and the screen would stand still.
        """
        try:
            while self.feed is feed:
                self._turn(feed)
                pause = self._pause(feed)
                await asyncio.sleep(min(pause, QUICK_S))
                await feed.wakeup.wait(pause - QUICK_S, self._reader.awaits)
        except Exception as error:
            self._services.workspace.fail(error)

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
            self._reader.ticked()
        self._turned_at = time.perf_counter()
        self._last_turn_s = self._turned_at - begun

    def _receive(self, changes: Changes) -> None:
        self._pending.merge(changes)
        is_loading = self.feed is not None and not self.feed.is_read
        if self._reader.is_current and not (is_loading and time.perf_counter() - self._drawn_at < LOADING_DRAW_S):
            self.deliver()
