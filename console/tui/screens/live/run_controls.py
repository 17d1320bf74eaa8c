"""Controls of Live for the engine of a run and for the replay of a finished one."""

import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass
from functools import partialmethod

from textual.content import Content

from console.core.fault import UsageError
from console.core.live import Command
from console.insight import number_format
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.replay_feed import Replay
from console.tui.data.run_feed import RunFeed
from console.tui.data.runs import RunLine
from console.tui.dialogs.help import TextScreen
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render.progress import worker_lines
from console.tui.sanitize import one_line
from console.tui.screens.resuming import resume_run
from console.tui.services import Services

ASKED_FOR_S = 2.0
"""Seconds for which a requested concurrency overrides the one reported by the engine."""
NO_ENGINE = Content("This run has no engine; r resumes it.")
GRADED = "it has its grade; r in Review plays it again, in a new run"
_ONE_CASE = frozenset({"case.stop", "case.retry"})
_NEEDS_ENGINE = frozenset({"run.pause", "run.faster", "run.slower", "run.stop", *_ONE_CASE})


@dataclass
class RunControls:
    """Sends pause, concurrency, stop and retry to the engine over the feed's connection."""

    services: Services
    feed: Callable[[], RunFeed | None]
    """Returns the feed shown."""
    rollout: Callable[[], Rollout | None]
    """Returns the rollout in the active tile."""
    rollout_feed: Callable[[], RunFeed | None]
    """Returns the feed of that rollout's run, which may be another one in the grid."""
    in_worker: Callable[[Coroutine[None, None, None]], object]
    """Runs a dialog."""
    line: Callable[[], RunLine | None]
    """Returns the run to resume: the one under the cursor of the list of runs, or the one shown."""
    _concurrency_asked: int = 0
    _asked_at: float = -ASKED_FOR_S

    def key_words(self) -> dict[str, str]:
        """Return the current key line labels; keys that need an engine are hidden if there is none."""
        feed = self.feed()
        words = {"run.pause": "resume" if self._is_paused(feed) else "pause"}
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(("run.stop", "case.stop", "case.retry"), "")
        if self._resumable is not None:
            words["case.retry"] = "resume"
        return words

    def first_keys(self) -> Collection[str]:
        """Return the actions named first in the key line: resuming a run that ended early."""
        line = self.line()
        return ("case.retry",) if line is not None and line.can_resume else ()

    def why_not(self, action: Action) -> str | None:
        """Return the reason that an action is unavailable; None if it is available or not handled here."""
        rollout = self.rollout()
        if action.id == "case.retry" and self._resumable is not None:
            return None
        feed = self.rollout_feed() if action.id in _ONE_CASE else self.feed()
        if action.id in _NEEDS_ENGINE and (feed is None or not feed.is_attached):
            return "this run has no engine"
        if action.id == "case.stop" and (rollout is None or not rollout.is_running):
            return "this conversation has ended"
        if action.id == "case.retry" and (rollout is None or rollout.is_running):
            return "this conversation has not ended"
        if action.id == "case.retry" and rollout is not None and rollout.has_grade:
            return GRADED
        return None

    def action_run_pause(self) -> None:
        self._send(Command("resume" if self._is_paused(self.feed()) else "pause"))

    def action_run_stop(self) -> None:
        feed = self.feed()
        if feed is None or not feed.is_attached:
            self.services.notify(NO_ENGINE)
        else:
            self.in_worker(self._ask_how_to_stop(feed))

    def action_workers(self) -> None:
        feed = self.feed()

        def read() -> list[Content]:
            status = feed.overview.status if feed is not None else None
            return worker_lines(status.workers if status is not None else (), now=time.time())

        has_engine = feed is not None and feed.overview.status is not None
        empty = "The engine runs the rollouts itself." if has_engine else NO_ENGINE.plain
        self.in_worker(self._show_workers(read, empty))

    async def _show_workers(self, read: Callable[[], Sequence[Content]], empty: str) -> None:
        await self.services.ask(TextScreen("Workers", read, empty))

    def action_case_stop(self) -> None:
        rollout = self.rollout()
        if rollout is not None and rollout.is_running:
            self._send(Command("stop_case", key=rollout.key), feed=self.rollout_feed())

    def action_case_retry(self) -> None:
        """Retry the active conversation, which ended without a grade; resume a run that ended early."""
        if (line := self._resumable) is not None:
            resume_run(self.services, line)
            return
        rollout = self.rollout()
        if rollout is not None and rollout.has_grade:
            self.services.notify(Content(f"{GRADED[0].upper()}{GRADED[1:]}."))
        elif rollout is not None and not rollout.is_running:
            words = "Queued to retry as a new attempt."
            self._send(Command("retry_case", key=rollout.key), words, feed=self.rollout_feed())

    async def _ask_how_to_stop(self, feed: RunFeed) -> None:
        begun = number_format.count(len(feed.overview.running))
        text = Content.assemble("Stop ", one_line(feed.folder.name, 50, "bold"), "? It can be resumed later.")
        answers = [
            Answer("f", f"finish the {begun} under way, then stop"),
            Answer("s", "stop now, cancel requests in flight"),
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

    @property
    def _resumable(self) -> RunLine | None:
        line = self.line()
        return line if line is not None and (line.can_resume or line.is_decided) else None

    def _is_paused(self, feed: RunFeed | None) -> bool:
        status = feed.overview.status if feed else None
        return status is not None and status.state in ("pausing", "paused")


_CLOCK = frozenset({"run.pause", "run.faster", "run.slower"})
"""Actions on a live run that control the clock of a replay."""
_SEEK = frozenset({"replay.back", "replay.forward", "replay.first", "replay.last"})
_ENGINE = frozenset({"run.stop", "case.stop", "case.retry"})
"""Actions that need an engine, unavailable in a replay."""


@dataclass
class ReplayControls:
    """Starts, controls and ends the replay of a run."""

    services: Services
    run: RunFolder
    run_feed: Callable[[], RunFeed | None]
    """Returns the run's own feed."""
    show_feed: Callable[[RunFeed | None], None]
    """Shows a replay, or with None the run's own feed."""
    clock_changed: Callable[[], None]
    """Called when the clock was stopped, started or changed in speed."""
    moved: Callable[[], None]
    """Called after a seek."""
    replay: Replay | None = None
    """The current replay, if any."""

    @property
    def can_start(self) -> bool:
        """True if the run can be replayed: finished, read and not empty."""
        feed = self.run_feed()
        return feed is not None and feed.is_read and not feed.is_live and bool(feed.overview.rollouts)

    @property
    def takes_over(self) -> bool:
        """True if the keys of a live run control a replay."""
        return self.replay is not None or self.can_start

    def start(self) -> None:
        try:
            replay = Replay(self.run)
        except UsageError as error:
            self.services.refuse(error)
            return
        replay.start()
        self.replay = replay
        self.show_feed(replay)

    def leave(self) -> bool:
        """End the replay and show the run's final state; return False if there was no replay."""
        if self.replay is None:
            return False
        self.close()
        self.show_feed(None)
        return True

    def close(self) -> None:
        if self.replay is not None:
            self.replay.close()
            self.replay = None

    def key_words(self) -> dict[str, str]:
        """Return the current key line labels; keys of unavailable actions are hidden."""
        feed = self.run_feed()
        if self.replay is not None:
            words = {"run.pause": "pause" if self.replay.is_playing else "play", "run.faster": "speed"}
            return words | dict.fromkeys(_ENGINE, "") | {"replay.back": "back/forward", "replay.first": "start/end"}
        words = dict.fromkeys(_SEEK, "")
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(_CLOCK, "") | ({"run.pause": "replay"} if self.can_start else {})
        return words

    def why_not(self, action: Action) -> str | None:
        """Return the reason that an action is unavailable: "" if it is available, None if it is not handled here."""
        if action.id in _SEEK and self.replay is None:
            return "p replays this run first" if self.can_start else "only finished runs can be replayed"
        if action.id in _CLOCK and (self.replay is not None or (action.id == "run.pause" and self.can_start)):
            return ""
        return "this is a replay" if self.replay is not None and action.id in _ENGINE else None

    def action_run_pause(self) -> None:
        """Start a replay, or pause or resume it."""
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
