"""`ReplayControls`: playing a finished run again; the keys that control a live run control the clock of the replay."""

from collections.abc import Callable

from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.replay_feed import Replay
from console.tui.data.run_feed import RunFeed
from console.tui.sanitize import literal
from console.tui.screens.live.run_controls import NO_ENGINE
from console.tui.services import Services

_CLOCK = frozenset({"run.pause", "run.faster", "run.slower"})
"""Actions on a live run that act on the clock of a replay."""
_SEEK = frozenset({"replay.back", "replay.forward", "replay.first", "replay.last"})
_ENGINE = frozenset({"run.stop", "case.stop", "case.retry"})
"""Actions that need an engine, which a replay has not."""


class ReplayControls:
    """Starts, moves and ends the replay of a run."""

    def __init__(
        self,
        services: Services,
        run: RunFolder,
        *,
        run_feed: Callable[[], RunFeed | None],
        show_feed: Callable[[RunFeed | None], None],
        clock_changed: Callable[[], None],
        moved: Callable[[], None],
    ) -> None:
        """Replay a run.

        Args:
            services: what the app does for screens.
            run: the run.
            run_feed: returns the run's own feed.
            show_feed: shows a replay, or with None the run's own feed again.
            clock_changed: called when the clock was stopped, started, or got another speed.
            moved: called when the replay has to go to another time at once.
        """
        self.replay: Replay | None = None
        """The replay that is shown, if it is one."""
        self._services = services
        self._run = run
        self._run_feed = run_feed
        self._show_feed = show_feed
        self._clock_changed = clock_changed
        self._moved = moved

    @property
    def can_start(self) -> bool:
        """Whether the run has ended with something to show."""
        feed = self._run_feed()
        return feed is not None and feed.is_read and not feed.is_live and bool(feed.overview.rollouts)

    @property
    def takes_over(self) -> bool:
        """Whether the keys of a live run act on a replay now."""
        return self.replay is not None or self.can_start

    def start(self) -> None:
        """Play the run again from its beginning."""
        try:
            replay = Replay(self._run)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return
        replay.start()
        self.replay = replay
        self._show_feed(replay)

    def leave(self) -> bool:
        """Show the run as it ended again; say whether a replay was shown."""
        if self.replay is None:
            return False
        self.close()
        self._show_feed(None)
        return True

    def close(self) -> None:
        """End the replay."""
        if self.replay is not None:
            self.replay.close()
            self.replay = None

    def key_words(self) -> dict[str, str]:
        """Name keys by what they do with the clock; hide those that have no use now."""
        feed = self._run_feed()
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
            self._clock_changed()

    def action_run_faster(self) -> None:
        """Play faster."""
        self._change_speed(1)

    def action_run_slower(self) -> None:
        """Play slower."""
        self._change_speed(-1)

    def action_replay_back(self) -> None:
        """Go a step back."""
        self._seek(-1.0)

    def action_replay_forward(self) -> None:
        """Go a step forward."""
        self._seek(1.0)

    def action_replay_first(self) -> None:
        """Go to the beginning."""
        self._seek(-1e9)

    def action_replay_last(self) -> None:
        """Go to the end."""
        self._seek(1e9)

    def _change_speed(self, step: int) -> None:
        if self.replay is None:
            self._services.notify(NO_ENGINE)
        else:
            self.replay.change_speed(step)
            self._clock_changed()

    def _seek(self, steps: float) -> None:
        if self.replay is None:
            self._services.notify(Content("p replays a finished run; then < > { } move in it."))
            return
        self.replay.seek(self.replay.time_s + steps * self.replay.step_s)
        self._moved()
