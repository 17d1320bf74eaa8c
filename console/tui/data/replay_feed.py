"""`Replay`: a feed that replays an ended run from its journal, with an adjustable clock.

It has the interface of a live run's feed, so the same screen shows both: records appear at their original times, and a
reply's text is spread evenly over its duration, an approximation. There is no engine to control.
"""

import itertools
import threading
import time
from dataclasses import dataclass

from console.core.case import Key
from console.core.live import Activity, Began, Command, Delta, Deltas, Status
from console.core.record import AnyRecord, Asked, Steered
from console.insight.overview import Overview
from console.insight.pace import Pace
from console.insight.timeline import Timeline
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed

SPEEDS = (1.0, 4.0, 16.0, float("inf"))
"""Available speeds relative to the original; the last is as fast as possible."""
FIRST_TOKEN = 0.3
"""Assumed share of a call's duration before its first token, if not recorded."""
_SESSION_BYTES = 1 << 20

_ROLE_STATES = {"judge": "judging", "user": "user writing"}
"""State of a conversation during a call to a role other than the model."""


@dataclass(slots=True)
class Call:
    """A call in flight, whose recorded reply is streamed bit by bit."""

    asked: Asked
    sent_s: float
    ends_s: float
    streamed: int = 0
    """Characters streamed so far."""

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """(kind, text) of the reply, in the order of the transcript."""
        reply = self.asked.reply
        calls = "".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
        return ("reasoning", reply.reasoning), ("text", reply.content or ""), ("tool", calls)

    def first_token_s(self) -> float:
        """Return when the first token arrived, in seconds from the run's start."""
        waited = self.asked.reply.first_token_s
        return self.sent_s + (waited if waited is not None else FIRST_TOKEN * (self.ends_s - self.sent_s))

    def stream(self, now_s: float) -> list[Delta]:
        """Return the text that arrived since the last call."""
        first = self.first_token_s()
        share = (now_s - first) / max(self.ends_s - first, 1e-6)
        if share <= 0:
            return []
        due = int(min(share, 1.0) * sum(len(text) for _, text in self.parts))
        deltas: list[Delta] = []
        before = 0
        for kind, text in self.parts:
            fresh = text[max(self.streamed - before, 0) : max(due - before, 0)]
            if fresh:
                deltas.append(Delta(self.asked.key, self.asked.n, fresh, kind))
            before += len(text)
        self.streamed = max(due, self.streamed)
        return deltas


class Replay(RunFeed):
    """Replays a run."""

    def __init__(self, folder: RunFolder) -> None:
        """Prepare the replay of a run; nothing is read before `start`.

        Raises:
            UsageError: the folder is not a run.
        """
        super().__init__(folder)
        self.timeline = Timeline()
        self.is_live = True
        self.speed = 1.0
        self.is_playing = True
        self._loaded = False
        self._goal: float | None = None
        self._turned_at = time.monotonic()
        self._restart()

    def _restart(self) -> None:
        self.overview = Overview()
        self.overview.pace = Pace(self.now)
        self._kept.clear()
        self._flights.clear()
        self._calls: dict[tuple[Key, int], Call] = {}
        self.time_s = 0.0
        """Current position, in seconds from the run's start."""
        self._next = 0
        self._paused, self._concurrency = False, self.manifest.concurrency

    # Life ------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start reading the whole journal, whose timestamps give the timeline."""
        self.wakeup.start()
        self._thread = threading.Thread(target=self._load, name="journal", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        while not self._stop.is_set():
            before = self._index.offset
            for record in self._index.iter_new(_SESSION_BYTES):
                self.timeline.add(record, self._index.place)
            if self._index.offset == before:
                break
        self.timeline.settle()
        self._loaded = True

    @property
    def is_busy(self) -> bool:
        """True if the clock is running, or a seek or the initial read is in progress."""
        return self.is_playing or self._goal is not None or not self._loaded

    @property
    def has_more(self) -> bool:
        """True if it is seeking or playing at full speed, and `pump` should be called again at once."""
        return self._loaded and (self._goal is not None or (self.is_playing and self.speed == SPEEDS[-1]))

    @property
    def is_at_end(self) -> bool:
        """True if everything has been replayed."""
        return self._loaded and self.time_s >= self.timeline.length_s

    def now(self) -> float:
        """Return the original time of the current position, in seconds since the epoch."""
        return self.timeline.epoch_at(self.time_s)

    def send(self, command: Command) -> bool:
        """Return False: there is no engine."""
        return False

    # Time ------------------------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Pause or resume; at the end, restart."""
        if self.is_at_end and not self.is_playing:
            self.seek(0.0)
            self.is_playing = True
        else:
            self.is_playing = not self.is_playing

    def change_speed(self, step: int) -> None:
        """Change the speed by `step` entries of `SPEEDS`."""
        self.speed = SPEEDS[max(0, min(SPEEDS.index(self.speed) + step, len(SPEEDS) - 1))]

    def seek(self, time_s: float) -> None:
        """Seek to a time of the run, in seconds from its start."""
        self._goal = max(0.0, min(time_s, self.timeline.length_s))

    @property
    def step_s(self) -> float:
        """Seconds per step back or forward."""
        return max(10.0, self.timeline.length_s / 40)

    # Playing ---------------------------------------------------------------------------------------------------------

    def pump(self, budget_s: float = 0.012) -> Changes:
        """Advance to the clock's position, for at most about `budget_s` seconds, and return the changes."""
        changes = Changes()
        now = time.monotonic()
        elapsed, self._turned_at = now - self._turned_at, now
        if not self._loaded:
            return changes
        if not self.is_read:
            self.is_read = changes.settled = True
        goal = self.time_s
        if self._goal is not None:
            goal = self._goal
            if goal < self.time_s:
                self._restart()
                changes.rewound = True
        elif self.is_playing:
            goal = self.timeline.length_s if self.speed == SPEEDS[-1] else self.time_s + elapsed * self.speed
        goal = min(goal, self.timeline.length_s)
        self._play(goal, time.perf_counter() + budget_s, changes)
        if self.time_s >= goal:
            self._goal = None
        self._conclude(changes)
        return self._handed_on(changes)

    def _conclude(self, changes: Changes) -> None:
        """Update the state when the end is reached or left."""
        live = not self.is_at_end
        if not live and self.is_playing:
            self.is_playing = False
            changes.status = True
        if live != self.is_live:
            self.is_live, changes.status = live, True
            if not live:
                self.overview.disconnect()

    def _play(self, goal: float, until: float, changes: Changes) -> None:
        """Apply the records up to `goal`, then update the calls in flight at that time."""
        before, last = self.time_s, self.timeline.count_until(goal)
        for done in itertools.count():
            if self._next >= last:
                self.time_s = goal
                break
            if done % 32 == 31 and time.perf_counter() >= until:
                self.time_s = self.timeline.time_of(self._next - 1)
                break
            self._apply_next(changes)
        for sent, number in self.timeline.sent_between(before if before else -1.0, self.time_s):
            if number >= self._next:
                self._send_call(sent, number, changes)
        deltas = [delta for call in self._calls.values() for delta in call.stream(self.time_s)]
        if deltas:
            self._apply_frame(Deltas(deltas), changes)
        if self.time_s != before:
            self._show_status(changes)

    def _apply_next(self, changes: Changes) -> None:
        record = self._record(self._next)
        self._next += 1
        if record is None:
            return
        self._apply(record, changes)
        changes.records += 1
        match record:
            case Asked():
                self._calls.pop((record.key, record.n), None)
            case Steered():
                self._apply_command(record)
            case _:
                pass

    def _record(self, number: int) -> AnyRecord | None:
        """Return a record by number, or None if the journal was changed or deleted since it was read."""
        try:
            return self._index.record_at(self.timeline.place_of(number))
        except OSError:
            return None

    def _apply_command(self, record: Steered) -> None:
        match record.what:
            case "pause" | "resume":
                self._paused = record.what == "pause"
            case "concurrency" if record.value.isdigit():
                self._concurrency = int(record.value)
            case _:
                pass

    def _send_call(self, sent: float, number: int, changes: Changes) -> None:
        asked = self._record(number)
        if not isinstance(asked, Asked):
            return
        self._calls[asked.key, asked.n] = Call(asked, sent, self.timeline.time_of(number))
        began = Began(asked.key, asked.n, asked.role, asked.turn, asked.step, asked.messages, asked.at, asked.prefix)
        self._apply_frame(began, changes)

    def _show_status(self, changes: Changes) -> None:
        activities: list[Activity] = []
        for call in self._calls.values():
            word = _ROLE_STATES.get(call.asked.role, "streaming" if call.streamed else "asking")
            activities.append(Activity(call.asked.key, word, self.timeline.epoch_at(call.sent_s)))
        if self._next < len(self.timeline):
            state = "paused" if self._paused else "running"
            self._apply_frame(Status(state, self._concurrency, activities), changes)

    def _waiting(self, key: Key) -> int:
        """Return the number of records of a conversation yet to be applied."""
        if self._next >= len(self.timeline):
            return 0
        return self._index.count_from(key, self.timeline.place_of(self._next)[0])
