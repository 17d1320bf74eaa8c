"""`RunControls`: what a reader may ask of the engine that plays the watched run."""

import time
from collections.abc import Callable, Coroutine

from textual.content import Content

from console.core.live import Command
from console.insight.rollout import Rollout
from console.tui.actions import Action
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import one_line
from console.tui.services import Services

ASKED_FOR_S = 2.0
"""How long the last number asked for counts as the present one, though the engine has not said so yet."""
NO_ENGINE = Content("No engine plays this run; r at Home resumes it.")
_NEEDS_ENGINE = frozenset({"run.pause", "run.faster", "run.slower", "run.stop", "case.stop", "case.retry"})


class RunControls:
    """Pause, concurrency, stop and retry, sent over the feed's connection to the engine."""

    def __init__(
        self,
        services: Services,
        *,
        feed: Callable[[], RunFeed | None],
        rollout: Callable[[], Rollout | None],
        in_worker: Callable[[Coroutine[None, None, None]], object],
    ) -> None:
        """Control a run.

        Args:
            services: what the app does for screens.
            feed: returns what is shown now.
            rollout: returns the rollout whose conversation keys act on.
            in_worker: runs what waits for an answer of the reader.
        """
        self._services = services
        self._feed = feed
        self._rollout = rollout
        self._in_worker = in_worker
        self._concurrency_asked, self._asked_at = 0, -ASKED_FOR_S

    def key_words(self) -> dict[str, str]:
        """Name the keys by what they do now; hide those that need an engine."""
        feed = self._feed()
        words = {"run.pause": "go on" if self._is_paused(feed) else "pause"}
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(("run.stop", "case.stop", "case.retry"), "")
        return words

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None when nothing is known that speaks against it."""
        feed, rollout = self._feed(), self._rollout()
        if action.id in _NEEDS_ENGINE and (feed is None or not feed.is_attached):
            return "no engine plays this run"
        if action.id == "case.stop" and (rollout is None or not rollout.is_running):
            return "this conversation has ended"
        if action.id == "case.retry" and (rollout is None or rollout.is_running):
            return "this conversation has not ended"
        return None

    def action_run_pause(self) -> None:
        """Start nothing new, or go on."""
        self._send(Command("resume" if self._is_paused(self._feed()) else "pause"))

    def action_run_faster(self) -> None:
        """Allow one more conversation at once."""
        self._change_concurrency(1)

    def action_run_slower(self) -> None:
        """Allow one conversation fewer at once."""
        self._change_concurrency(-1)

    def action_run_stop(self) -> None:
        """Stop the run, after asking how."""
        feed = self._feed()
        if feed is None or not feed.is_attached:
            self._services.notify(NO_ENGINE)
        else:
            self._in_worker(self._ask_how_to_stop(feed))

    def action_case_stop(self) -> None:
        """Stop the watched conversation."""
        rollout = self._rollout()
        if rollout is not None and rollout.is_running:
            self._send(Command("stop_case", key=rollout.key))

    def action_case_retry(self) -> None:
        """Ask the watched conversation again, as a new attempt."""
        rollout = self._rollout()
        if rollout is not None and not rollout.is_running:
            self._send(Command("retry_case", key=rollout.key), "It will be asked again as a new attempt.")

    async def _ask_how_to_stop(self, feed: RunFeed) -> None:
        running = len(feed.overview.running)
        text = Content.assemble("Stop ", one_line(feed.folder.name, 50, "bold"), "? It can be resumed later.")
        answers = [
            Answer("f", f"finish the {running} that are running, start nothing new"),
            Answer("s", "stop now, give up what is in flight"),
        ]
        answer = await self._services.ask(Question(text, answers))
        if answer:
            self._send(Command("stop" if answer == "f" else "kill"))

    def _change_concurrency(self, by: int) -> None:
        feed, now = self._feed(), time.monotonic()
        status = feed.overview.status if feed else None
        present = status.concurrency if status else 0
        if now - self._asked_at < ASKED_FOR_S:
            present = self._concurrency_asked
        self._concurrency_asked, self._asked_at = max(1, present + by), now
        self._send(Command("concurrency", value=self._concurrency_asked))

    def _send(self, command: Command, words: str = "") -> None:
        feed = self._feed()
        if feed is None or not feed.send(command):
            self._services.notify(NO_ENGINE)
        elif words:
            self._services.notify(Content(words))

    def _is_paused(self, feed: RunFeed | None) -> bool:
        status = feed.overview.status if feed else None
        return status is not None and status.state in ("pausing", "paused")
