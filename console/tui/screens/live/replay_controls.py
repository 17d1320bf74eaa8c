"""Playing a finished run again on the Live screen: the keys that steer a live run steer the clock of the replay."""

import time

from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.insight import number_format
from console.tui.actions import Action
from console.tui.data.replay_feed import SPEEDS, Replay
from console.tui.data.run_feed import Changes
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import literal
from console.tui.screens.live.sort_orders import Order
from console.tui.screens.live.watching import Watching
from console.tui.widgets.pane_title import tell

MUTED = "$muted"
_CLOCK = frozenset({"run.pause", "run.faster", "run.slower"})
"""Actions on a live run that act on the clock of a replay."""
_SEEK = frozenset({"replay.back", "replay.forward", "replay.first", "replay.last"})


class Replaying(Watching):
    """Swaps the feed of a finished run for a replay of it; see the module."""

    replay: Replay | None = None
    """The replay that is shown, if it is one."""

    def start_replay(self) -> None:
        """Play the run again from its beginning."""
        try:
            self.replay = Replay(self.run_folder)
        except UsageError as error:
            self.services.notify(literal(str(error)), severity="error")
            return
        self.replay.start()
        self.order = Order.RUNNING
        self.set_class(True, "-replay")
        self.pump.release()
        self.pump.follow(self.replay)
        self.refresh_keys()

    def leave_replay(self) -> None:
        """Show the run as it ended again."""
        if self.replay is None:
            return
        self.pump.release()
        self.replay.close()
        self.replay = None
        self.set_class(False, "-replay")
        if self.pump.whole_feed is not None:
            self.pump.follow(self.pump.whole_feed)
        self.refresh_keys()

    def on_unmount(self) -> None:
        """End the replay."""
        if self.replay is not None:
            self.replay.close()

    @property
    def can_replay(self) -> bool:
        """Whether the run has ended with something to show."""
        feed = self.pump.whole_feed
        return feed is not None and feed.is_read and not feed.is_live and bool(feed.overview.rollouts)

    def go_back(self) -> bool:
        """Leave the replay before the screen."""
        if super().go_back():
            return True
        if self.replay is not None:
            self.leave_replay()
            return True
        return False

    # Keys ------------------------------------------------------------------------------------------------------------

    def replay_words(self) -> dict[str, str]:
        """Name keys by what they do with the clock."""
        if self.replay is None:
            words = dict.fromkeys((*_CLOCK, *_SEEK), "")
            return words | ({"run.pause": "replay"} if self.can_replay else {})
        words = {"run.pause": "pause" if self.replay.is_playing else "play", "run.faster": "speed"}
        return words | {"replay.back": "back/forward", "replay.first": "start/end"}

    def why_not_steer(self, action: Action) -> str:
        """Return why an action cannot act now."""
        if action.id in _SEEK and self.replay is None:
            return "p replays this run first" if self.can_replay else "only a finished run is replayed"
        if action.id in _CLOCK and (self.replay is not None or (action.id == "run.pause" and self.can_replay)):
            return ""
        if self.replay is not None and action.id in ("run.stop", "case.stop", "case.retry"):
            return "this is a replay"
        return super().why_not_steer(action)

    def action_run_pause(self) -> None:
        """Stop the clock of the replay or let it run; begin one where the run has ended."""
        if self.replay is not None:
            self.replay.toggle()
            self.refresh_keys()
            self.draw_replay()
        elif self.can_replay:
            self.start_replay()
        else:
            super().action_run_pause()

    def action_run_faster(self) -> None:
        """Play faster."""
        if self.replay is not None:
            self.replay.change_speed(1)
            self.draw_replay()
        else:
            super().action_run_faster()

    def action_run_slower(self) -> None:
        """Play slower."""
        if self.replay is not None:
            self.replay.change_speed(-1)
            self.draw_replay()
        else:
            super().action_run_slower()

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

    def _seek(self, steps: float) -> None:
        if self.replay is None:
            self.services.notify(Content("p replays a finished run; then < > { } move in it."))
            return
        self.replay.seek(self.replay.time_s + steps * self.replay.step_s)
        self.pump.wake()

    # Drawing ---------------------------------------------------------------------------------------------------------

    def draw_replay(self) -> None:
        """Say that this is a replay, where it is and how fast it goes."""
        if self.replay is not None:
            tell(self.query_one("#replay", Static), replay_line(self.replay, self.size.width))

    def fed(self, changes: Changes) -> None:
        """Show where the clock is."""
        self.draw_replay()


def replay_line(replay: Replay, width: int) -> Content:
    """Return the line that tells a replay from a live run: mark, speed, place on a bar, clock on the wall."""
    speed = "max" if replay.speed == SPEEDS[-1] else f"×{replay.speed:.0f}"
    mark = SYMBOLS.running if replay.is_playing else SYMBOLS.stopped
    state = "playing" if replay.is_playing else "at the end, p plays again" if replay.is_at_end else "paused"
    length = replay.timeline.length_s
    head = Content.assemble((" REPLAY ", "bold reverse $undecided"), f" {mark} {state} ", (speed, "bold"), "  ")
    if not replay.is_read:
        return head.append_text("reading the journal …", MUTED)
    place = f"{number_format.duration(replay.time_s)} of {number_format.duration(length)}"
    clock = time.strftime("%d %b %H:%M:%S", time.localtime(replay.now()))
    tail = Content.assemble(f"  {place}", (f"   {clock}", MUTED), " ")
    room = max(width - head.cell_length - tail.cell_length, 0)
    done = round(room * min(replay.time_s / length, 1.0)) if length else room
    bar = Content.assemble((SYMBOLS.bar * done, "$undecided"), (SYMBOLS.rule * (room - done), "$line"))
    return head.append(bar).append(tail)
