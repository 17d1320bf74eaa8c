"""`RunScreen`: a screen that shows one run. It pumps the run's feed and hands on merged changes, ten times a second.

Four times a second when the terminal is remote, when it has lost the focus, or when the last turn took over 50 ms;
hardly ever when the run stands still; at once when an answer begins that the reader waits for. A screen that is not
shown collects its changes until it is.
"""

import asyncio
import time

from textual.content import Content

from console.core.case import Key
from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.sanitize import literal
from console.tui.screens.base import BaseScreen

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


class RunScreen(BaseScreen):
    """A screen of one run; see the module."""

    DEFAULT_CSS = """
    RunScreen.-wide PaneTitle { display: none; }
    RunScreen RowList, RunScreen Transcript { scrollbar-gutter: stable; }
    """

    def __init__(self, run: RunFolder) -> None:
        """Show a run; nothing is read before the screen is mounted."""
        super().__init__()
        self.run_folder = run
        self.feed: RunFeed | None = None
        """What is shown: the run's feed, or a replay of it."""
        self.whole_feed: RunFeed | None = None
        """The run's own feed, kept while a replay is shown."""
        self.problem = Content.empty()
        """Why the run cannot be shown, if it cannot."""
        self._following: asyncio.Task[None] | None = None
        self._pending = Changes()
        self._last_turn_s = self._turned_at = self._drawn_at = 0.0

    # To be answered by screens ---------------------------------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Take over what is new; called with an empty change once, as soon as the feed is open."""

    def ticked(self) -> None:
        """Called after each pump while the screen is shown, whether anything is new or not."""

    def awaits(self, key: Key) -> bool:
        """Whether the beginning of an answer in this conversation is worth a turn of its own."""
        return self.is_current and self.feed is not None and not self._is_slow(self.feed)

    # Feed ------------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Open the feed once the frame is painted."""
        self.call_after_refresh(self._open_feed)

    def _open_feed(self) -> None:
        try:
            feed = self.console_app.feeds.open(self.run_folder)
        except UsageError as error:
            self.problem = literal(str(error), style="$broken")
            self.console_app.say(literal(str(error)), severity="error")
            self.fed(Changes())
            return
        self.whole_feed = feed
        self.follow_feed(feed)

    def follow_feed(self, feed: RunFeed) -> None:
        """Show this feed from now on, from the beginning."""
        self.feed = feed
        feed.subscribe(self._take)
        self.fed(Changes(slots=set(feed.overview.rollouts), status=True, rewound=True))
        self._following = asyncio.get_running_loop().create_task(self._follow(feed), name="follow")

    def let_go_of_feed(self) -> None:
        """Show no feed any more."""
        if self._following is not None:
            self._following.cancel()
        if self.feed is not None:
            self.feed.unsubscribe(self._take)
            self.feed = None
        self._pending = Changes()

    def on_unmount(self) -> None:
        """Let go of the feed."""
        self.let_go_of_feed()
        if self.whole_feed is not None:
            self.console_app.feeds.close(self.whole_feed)
            self.whole_feed = None

    def wake(self) -> None:
        """Turn at once, because the reader has asked for something."""
        if self.feed is not None:
            self._turn(self.feed)

    async def _follow(self, feed: RunFeed) -> None:
        """Turn for as long as the screen is there.

        Not by one timer after the other: Textual's `set_timer` never calls back when its time has passed before it
        first looks at the clock, which a busy machine brings about, and the screen would stand still.
        """
        try:
            while self.feed is feed:
                self._turn(feed)
                pause = self._pause(feed)
                await asyncio.sleep(min(pause, QUICK_S))
                await feed.beginnings.news(pause - QUICK_S, self.awaits)
        except Exception as error:
            self.call_later(_raise, error)  # ends the app as an error in any of its own callbacks would

    def _pause(self, feed: RunFeed) -> float:
        if feed.has_more or not feed.is_read:
            return LOADING_PAUSE_S
        if not feed.is_busy:
            return IDLE_TICK_S
        return SLOW_TICK_S if self._is_slow(feed) else TICK_S

    def _is_slow(self, feed: RunFeed) -> bool:
        return feed.remote or not self.console_app.app_focus or self._last_turn_s > SLOW_TURN_S

    def _turn(self, feed: RunFeed) -> None:
        begun = time.perf_counter()
        least, most = SHARE_S
        feed.pump(min(max(begun - self._turned_at, least), most) if feed.has_more else least)
        if self.is_current:
            self.ticked()
        self._turned_at = time.perf_counter()
        self._last_turn_s = self._turned_at - begun

    def _take(self, changes: Changes) -> None:
        self._pending.merge(changes)
        is_loading = self.feed is not None and not self.feed.is_read
        if self.is_current and not (is_loading and time.perf_counter() - self._drawn_at < LOADING_DRAW_S):
            self._deliver()

    def _deliver(self) -> None:
        if self._pending:
            changes, self._pending = self._pending, Changes()
            self.fed(changes)
            self._drawn_at = time.perf_counter()

    def on_screen_resume(self) -> None:
        """Catch up with what came while another screen was shown."""
        if self.feed is not None:
            self._deliver()


def _raise(error: Exception) -> None:
    raise error
