"""What a watcher may ask of a running engine, as action methods of the Live screen."""

import time

from textual import work
from textual.content import Content

from console.core.live import Command
from console.insight.rollout import Rollout
from console.tui.actions import Action
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import one_line
from console.tui.screens.run_screen import RunScreen

AIM_S = 2.0
"""How long the last number asked for counts as the present one, though the engine has not said so yet."""
_NEEDS_ENGINE = frozenset({"run.pause", "run.faster", "run.slower", "run.stop", "case.stop", "case.retry"})


class RunControls(RunScreen):
    """The steering actions; a screen says which rollout is watched."""

    _aim = (0, -AIM_S)
    """How many conversations at once were asked for last, and when."""

    def watched_rollout(self) -> Rollout | None:
        """Return the rollout that the reader watches."""
        return None

    def why_not_steer(self, action: Action) -> str:
        """Return why a steering action cannot act now, or an empty text."""
        if action.id in _NEEDS_ENGINE and (self.feed is None or not self.feed.is_attached):
            return "no engine plays this run"
        rollout = self.watched_rollout()
        if action.id == "case.stop" and (rollout is None or not rollout.is_running):
            return "this conversation has ended"
        if action.id == "case.retry" and (rollout is None or rollout.is_running):
            return "this conversation has not ended"
        return ""

    def _send(self, command: Command, words: str = "") -> None:
        if self.feed is None or not self.feed.send(command):
            self.services.notify(Content("No engine plays this run; r at Home resumes it."))
        elif words:
            self.services.notify(Content(words))

    def action_run_pause(self) -> None:
        """Start nothing new, or go on."""
        status = self.feed.overview.status if self.feed else None
        paused = status is not None and status.state in ("pausing", "paused")
        self._send(Command("resume" if paused else "pause"))

    def action_run_faster(self) -> None:
        """Allow one more conversation at once."""
        self._change_concurrency(1)

    def action_run_slower(self) -> None:
        """Allow one conversation fewer at once."""
        self._change_concurrency(-1)

    def _change_concurrency(self, by: int) -> None:
        status = self.feed.overview.status if self.feed else None
        asked, at = self._aim
        now = asked if time.monotonic() - at < AIM_S else status.concurrency if status else 0
        self._aim = max(1, now + by), time.monotonic()
        self._send(Command("concurrency", value=self._aim[0]))

    def action_case_stop(self) -> None:
        """Stop the watched conversation."""
        rollout = self.watched_rollout()
        if rollout is not None and rollout.is_running:
            self._send(Command("stop_case", key=rollout.key))

    def action_case_retry(self) -> None:
        """Ask the watched conversation again, as a new attempt."""
        rollout = self.watched_rollout()
        if rollout is not None and not rollout.is_running:
            self._send(Command("retry_case", key=rollout.key), "It will be asked again as a new attempt.")

    @work(exclusive=True, group="steer")
    async def action_run_stop(self) -> None:
        """Stop the run, after asking how."""
        if self.feed is None or not self.feed.is_attached:
            self._send(Command("stop"))
            return
        running = len(self.feed.overview.running)
        text = Content.assemble("Stop ", one_line(self.run_folder.name, 50, "bold"), "? It can be resumed later.")
        answers = [
            Answer("f", f"finish the {running} that are running, start nothing new"),
            Answer("s", "stop now, give up what is in flight"),
        ]
        answer = await self.services.ask(Question(text, answers))
        if answer:
            self._send(Command("stop" if answer == "f" else "kill"))
