"""What a reader does with the engine of a run, and with the replay of one that has ended."""

import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partialmethod

from textual.content import Content

from console.core.fault import UsageError
from console.core.live import Command
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.replay_feed import Replay
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.help import TextScreen
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render.progress import worker_lines
from console.tui.sanitize import one_line
from console.tui.services import Services

ASKED_FOR_S = 2.0
"""How long the last number asked for counts as the present one, though the engine has not said so yet."""
NO_ENGINE = Content("No engine plays this run; r at Home resumes it.")
_ONE_CASE = frozenset({"case.stop", "case.retry"})
_NEEDS_ENGINE = frozenset({"run.pause", "run.faster", "run.slower", "run.stop", *_ONE_CASE})


@dataclass
class RunControls:
    """Pause, concurrency, stop and retry, sent over the feed's connection to the engine."""

    services: Services
    feed: Callable[[], RunFeed | None]
    """Returns what is shown now."""
    rollout: Callable[[], Rollout | None]
    """Returns the rollout whose conversation keys act on."""
    rollout_feed: Callable[[], RunFeed | None]
    """Returns the run of that rollout; on the wall it may be another than the one that is shown."""
    in_worker: Callable[[Coroutine[None, None, None]], object]
    """Runs what waits for an answer of the reader."""
    _concurrency_asked: int = 0
    _asked_at: float = -ASKED_FOR_S

    def key_words(self) -> dict[str, str]:
        """Name the keys by what they do now; hide those that need an engine."""
        feed = self.feed()
        words = {"run.pause": "go on" if self._is_paused(feed) else "pause"}
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(("run.stop", "case.stop", "case.retry"), "")
        return words

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None when nothing is known that speaks against it."""
        rollout = self.rollout()
        feed = self.rollout_feed() if action.id in _ONE_CASE else self.feed()
        if action.id in _NEEDS_ENGINE and (feed is None or not feed.is_attached):
            return "no engine plays this run"
        if action.id == "case.stop" and (rollout is None or not rollout.is_running):
            return "this conversation has ended"
        if action.id == "case.retry" and (rollout is None or rollout.is_running):
            return "this conversation has not ended"
        return None

    def action_run_pause(self) -> None:
        """Start nothing new, or go on."""
        self._send(Command("resume" if self._is_paused(self.feed()) else "pause"))

    def action_run_stop(self) -> None:
        """Stop the run, after asking how."""
        feed = self.feed()
        if feed is None or not feed.is_attached:
            self.services.notify(NO_ENGINE)
        else:
            self.in_worker(self._ask_how_to_stop(feed))

    def action_workers(self) -> None:
        """List who plays the run, with what each is at."""
        feed = self.feed()

        def read() -> list[Content]:
            status = feed.overview.status if feed is not None else None
            return worker_lines(status.workers if status is not None else (), now=time.time())

        has_engine = feed is not None and feed.overview.status is not None
        empty = "The engine of this run plays it itself." if has_engine else NO_ENGINE.plain
        self.in_worker(self._show_workers(read, empty))

    async def _show_workers(self, read: Callable[[], Sequence[Content]], empty: str) -> None:
        await self.services.ask(TextScreen("Workers", read, empty))

    def action_case_stop(self) -> None:
        rollout = self.rollout()
        if rollout is not None and rollout.is_running:
            self._send(Command("stop_case", key=rollout.key), feed=self.rollout_feed())

    def action_case_retry(self) -> None:
        """Ask the watched conversation again, as a new attempt."""
        rollout = self.rollout()
        if rollout is not None and not rollout.is_running:
            words = "Queued to retry as a new attempt."
            self._send(Command("retry_case", key=rollout.key), words, feed=self.rollout_feed())

    async def _ask_how_to_stop(self, feed: RunFeed) -> None:
        running = len(feed.overview.running)
        text = Content.assemble("Stop ", one_line(feed.folder.name, 50, "bold"), "? It can be resumed later.")
        answers = [
            Answer("f", f"finish the {running} that are running, start nothing new"),
            Answer("s", "stop now, give up what is in flight"),
        ]
        answer = await self.services.ask(Question(text, answers))
        if answer:
            self._send(Command("stop" if answer == "f" else "kill"))

    def _change_concurrency(self, by: int) -> None:
        feed, now = self.feed(), time.monotonic()
        status = feed.overview.status if feed else None
        present = status.concurrency if status else 0
        if now - self._asked_at < ASKED_FOR_S:
            present = self._concurrency_asked
        self._concurrency_asked, self._asked_at = max(1, present + by), now
        self._send(Command("concurrency", value=self._concurrency_asked))

    action_run_faster = partialmethod(_change_concurrency, 1)
    action_run_slower = partialmethod(_change_concurrency, -1)

    def _send(self, command: Command, words: str = "", *, feed: RunFeed | None = None) -> None:
        feed = feed or self.feed()
        if feed is None or not feed.send(command):
            self.services.notify(NO_ENGINE)
        elif words:
            self.services.notify(Content(words))

    def _is_paused(self, feed: RunFeed | None) -> bool:
        status = feed.overview.status if feed else None
        return status is not None and status.state in ("pausing", "paused")


_CLOCK = frozenset({"run.pause", "run.faster", "run.slower"})
"""Actions on a live run that act on the clock of a replay."""
_SEEK = frozenset({"replay.back", "replay.forward", "replay.first", "replay.last"})
_ENGINE = frozenset({"run.stop", "case.stop", "case.retry"})
"""Actions that need an engine, which a replay has not."""


@dataclass
class ReplayControls:
    """Starts, moves and ends the replay of a run."""

    services: Services
    run: RunFolder
    run_feed: Callable[[], RunFeed | None]
    """Returns the run's own feed."""
    show_feed: Callable[[RunFeed | None], None]
    """Shows a replay, or with None the run's own feed again."""
    clock_changed: Callable[[], None]
    """Called when the clock was stopped, started, or got another speed."""
    moved: Callable[[], None]
    """Called when the replay has to go to another time at once."""
    replay: Replay | None = None
    """The replay that is shown, if it is one."""

    @property
    def can_start(self) -> bool:
        """Whether the run has ended with something to show."""
        feed = self.run_feed()
        return feed is not None and feed.is_read and not feed.is_live and bool(feed.overview.rollouts)

    @property
    def takes_over(self) -> bool:
        """Whether the keys of a live run act on a replay now."""
        return self.replay is not None or self.can_start

    def start(self) -> None:
        """Play the run again from its beginning."""
        try:
            replay = Replay(self.run)
        except UsageError as error:
            self.services.refuse(error)
            return
        replay.start()
        self.replay = replay
        self.show_feed(replay)

    def leave(self) -> bool:
        """Show the run as it ended again; say whether a replay was shown."""
        if self.replay is None:
            return False
        self.close()
        self.show_feed(None)
        return True

    def close(self) -> None:
        """End the replay."""
        if self.replay is not None:
            self.replay.close()
            self.replay = None

    def key_words(self) -> dict[str, str]:
        """Name keys by what they do with the clock; hide those that have no use now."""
        feed = self.run_feed()
        if self.replay is not None:
            words = {"run.pause": "pause" if self.replay.is_playing else "play", "run.faster": "speed"}
            return words | dict.fromkeys(_ENGINE, "") | {"replay.back": "back/forward", "replay.first": "start/end"}
        words = dict.fromkeys(_SEEK, "")
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(_CLOCK, "") | ({"run.pause": "replay"} if self.can_start else {})
        return words

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now, nothing when it can; None for one that is no business of a replay."""
        if action.id in _SEEK and self.replay is None:
            return "p replays this run first" if self.can_start else "only a finished run is replayed"
        if action.id in _CLOCK and (self.replay is not None or (action.id == "run.pause" and self.can_start)):
            return ""
        return "this is a replay" if self.replay is not None and action.id in _ENGINE else None

    def action_run_pause(self) -> None:
        """Stop the clock of the replay or let it run; begin one where the run has ended."""
        if self.replay is None:
            self.start()
        else:
            self.replay.toggle()
            self.clock_changed()

    def _change_speed(self, step: int) -> None:
        if self.replay is None:
            self.services.notify(NO_ENGINE)
        else:
            self.replay.change_speed(step)
            self.clock_changed()

    action_run_faster = partialmethod(_change_speed, 1)
    action_run_slower = partialmethod(_change_speed, -1)

    def _seek(self, steps: float) -> None:
        if self.replay is None:
            self.services.notify(Content("p replays a finished run; then < > { } move in it."))
            return
        self.replay.seek(self.replay.time_s + steps * self.replay.step_s)
        self.moved()

    action_replay_back = partialmethod(_seek, -1.0)
    action_replay_forward = partialmethod(_seek, 1.0)
    action_replay_first = partialmethod(_seek, -1e9)
    action_replay_last = partialmethod(_seek, 1e9)
