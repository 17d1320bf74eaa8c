"""Overview of a run, updated record by record: rollouts, counts, pace, recent failures and problems.

Counts and sums come from `core.tally`. Little is kept per rollout, so that a million fit in memory;
`insight.conversation` builds transcripts one at a time. Records must be applied in journal order; frames in any order.
"""

from collections import deque
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from sys import intern
from typing import cast

import msgspec

from console.core.case import Key, Slot
from console.core.fault import HALTING
from console.core.live import AnyFrame, Began, Delta, Deltas, Status
from console.core.outcome import Outcome
from console.core.record import (
    AnyRecord,
    Asked,
    Closed,
    Embedded,
    Finished,
    Lost,
    Noted,
    Opened,
    Scored,
    Started,
    Steered,
    Tried,
)
from console.core.spending import RoleSpending, add_call
from console.core.tally import Counted, RunFold, without_output
from console.insight.executed_code import SANDBOX, Confinement, read_confinement
from console.insight.failing_requests import FailingRequests
from console.insight.functions_called import answered_functions, expected_functions, with_functions
from console.insight.pace import Pace
from console.insight.rollout import MESSAGE_LIMIT, NO_SCORES, Rollout, Track
from console.insight.rollouts import Rollouts

KEPT_PROBLEMS = 1000
_BEFORE_TEXT = frozenset({"", "queued", "asking"})
_HALTING = frozenset(kind.value for kind in HALTING)


@dataclass(frozen=True, slots=True)
class Problem:
    """A machinery problem: a failed try, a broken rollout or a halted run."""

    at: float
    key: Key | None
    kind: str
    """Fault kind, or how the run was closed."""
    message: str
    wait_s: float | None = None
    """Seconds until the next try; None if there will be no next try."""
    is_error: bool = False
    """True if the problem lost or stopped something."""


class LatestEndings(MutableMapping[Slot, Counted]):
    """Latest ending of each rollout: the rollout itself, unless it lacks the details or has been started again."""

    def __init__(self, rollouts: Rollouts, others: dict[Slot, Counted] | None = None) -> None:
        """Start with the endings of the rollouts; `others` take precedence."""
        self._rollouts, self.others = rollouts, others or {}

    def __getitem__(self, slot: Slot) -> Counted:
        if (ended := self.others.get(slot)) is not None:
            return ended
        rollout = self._rollouts[slot]
        if rollout.outcome is None:
            raise KeyError(slot)
        return rollout

    def __setitem__(self, slot: Slot, ended: Counted) -> None:
        self.others[slot] = ended

    def __delitem__(self, slot: Slot) -> None:
        """Drop the ending stored separately from the rollout."""
        del self.others[slot]

    def __iter__(self) -> Iterator[Slot]:
        kinds = self._rollouts.all().kinds()
        return (
            slot
            for slot, kind in zip(self._rollouts, kinds, strict=True)
            if kind.outcome is not None or slot in self.others
        )

    def __len__(self) -> int:
        kinds, others = self._rollouts.all().kinds(), [self._rollouts.kind_of(slot) for slot in self.others]
        return sum(kind.outcome is not None for kind in kinds) + sum(kind.outcome is None for kind in others)


class Overview:
    """All data shown in lists and run headers."""

    def __init__(self) -> None:
        self.rollouts = Rollouts()
        self.endings = LatestEndings(self.rollouts)
        """The `latest` of the fold."""
        self.fold = RunFold(latest=self.endings)
        self.running: dict[Slot, Rollout] = {}
        """Started and not finished, in order of start."""
        self.failures: deque[Rollout] = deque(maxlen=500)
        """Most recent failures, in order of finish."""
        self.problems: deque[Problem] = deque(maxlen=KEPT_PROBLEMS)
        self.problem_count = 0
        self.failing = FailingRequests()
        self.spending: dict[str, RoleSpending] = {}
        """Usage by role, from recorded calls."""
        self.status: Status | None = None
        self.is_deleted = False
        """True if the journal has been deleted."""
        self.pace = Pace()
        self.track_names: dict[str, float | None] = {}
        """Thresholds of in-play scores by name, in order of appearance."""
        self.steered: list[Steered] = []
        self.changed: set[Slot] = set()
        """Rollouts changed since `pop_changes`, except restored ones."""
        self.opened_at = 0.0
        self._side_calls: dict[Key, set[int]] = {}
        """Calls of running conversations whose text is not shown: to other models, or concurrent with a shown call."""
        self._shown_calls: dict[Key, int] = {}
        """Call of each running conversation whose text is shown."""
        self._shown_kinds: dict[Key, str] = {}
        """Kind of the shown text, such as reasoning."""
        self.confinement: Confinement | None = None
        """Weakest sandbox of any conversation; None without a sandbox."""

    def pop_changes(self) -> set[Slot]:
        """Return and clear the set of changed rollouts."""
        changed, self.changed = self.changed, set()
        return changed

    def apply(self, record: AnyRecord) -> None:
        counted = without_output(record)
        self.fold.apply(counted)
        self.pace.apply(record)
        self.failing.apply(record)
        match record:  # the most frequent first
            case Asked():
                add_call(self.spending, record)
                self._progress(record)
            case Started():
                self._start(record)
            case Finished():
                self._finish(record, cast("Finished", counted))
            case Embedded():
                add_call(self.spending, record)
            case Scored() | Tried() | Lost():
                self._progress(record)
            case Opened():
                self.opened_at = record.at
                self._interrupt()
            case Closed():
                self._close(record)
            case Steered():
                self.steered.append(record)
            case Noted() if record.kind == SANDBOX:
                self._confine(read_confinement(record.data))
            case _:
                pass

    def apply_frame(self, frame: AnyFrame) -> None:
        match frame:
            case Status():
                self._apply_status(frame)
            case Began():
                self._begin(frame)
            case Deltas():
                for delta in frame.items:
                    self._extend(delta)

    def rollout(self, key: Key) -> Rollout | None:
        """Return the rollout of a key, regardless of the attempt."""
        return self.rollouts.get(key.slot)

    def _to_change(self, key: Key) -> Rollout | None:
        """Return the rollout of an attempt for modification, unless there is a later attempt."""
        rollout = self._opened(key.slot)
        return rollout if rollout is not None and rollout.key == key else None

    def _opened(self, slot: Slot) -> Rollout | None:
        """Return a rollout for modification, or None."""
        rollout = self.rollouts.to_change(slot)
        if rollout is not None and rollout.is_failure:  # it had ended and may have been packed since
            latest = [rollout if failed.key == rollout.key else failed for failed in self.failures]
            self.failures = deque(latest, self.failures.maxlen)
        return rollout

    @property
    def state(self) -> str:
        """State reported by the engine, else by the journal, such as `running`, `paused` or `completed`."""
        if self.status is not None and self.status.state != "closed":
            return self.status.state
        return self.fold.state(live=False)

    def disconnect(self) -> None:
        """Drop the state reported by the engine."""
        self.status = None
        for rollout in self.running.values():
            rollout.state = rollout.why = ""
            self.changed.add(rollout.slot)

    def _interrupt(self) -> None:
        """Interrupt all running rollouts, because a new engine has opened the journal."""
        for rollout in self.running.values():
            rollout.state = ""
            self.changed.add(rollout.slot)
        self.running.clear()

    def _start(self, record: Started) -> None:
        slot = record.key.slot
        if record.key in self.fold.rerolled:
            self._add_reroll(record.key)
            return
        if (same := self._to_change(record.key)) is not None:
            self.running[slot] = same
            self.changed.add(slot)
            return
        earlier = self.rollouts.get(slot)
        if earlier is not None and earlier.outcome is not None:
            self.endings.others.setdefault(slot, earlier)
        msgspec.structs.force_setattr(record.key, "case", intern(record.key.case))  # repeats share it and the title
        rollout = Rollout(
            key=record.key,
            order=earlier.order if earlier else len(self.rollouts),
            category=intern(record.case.category),
            title=intern(record.case.title),
            cluster=intern(record.case.cluster),
            graded=record.case.graded,
            functions=with_functions((), expected_functions(record.case.data)),
            started_at=record.at,
            earlier=earlier.attempts if earlier else (),
        )
        self.rollouts.put(rollout)
        self.running[slot] = rollout
        self.changed.add(slot)

    def _add_reroll(self, key: Key) -> None:
        rollout = self._opened(key.slot)
        if rollout is not None and key not in rollout.attempts:
            rollout.later += (key,)
            self.changed.add(key.slot)
            self.rollouts.pack(rollout.order)

    def _finish(self, record: Finished, counted: Finished) -> None:
        slot = record.key.slot
        if record.key in self.fold.rerolled:
            self._add_reroll(record.key)
            return
        rollout = self._opened(slot)
        if rollout is None:
            rollout = Rollout(key=record.key, order=len(self.rollouts))
            self.rollouts.put(rollout)
        self.running.pop(slot, None)
        if self._shown_kinds or self._shown_calls or self._side_calls:
            self._shown_kinds.pop(record.key, None)
            self._side_calls.pop(record.key, None)
            self._shown_calls.pop(record.key, None)
        self.changed.add(slot)
        _conclude(rollout, record)
        if rollout.is_failure:
            self.failures.append(rollout)
        if rollout.outcome is Outcome.BROKEN and not self._gave_up(record.key):
            self._report(Problem(record.at, record.key, rollout.reason, rollout.message, is_error=True))
        if not counted.verdict.detail:
            del self.endings[slot]
        self.rollouts.pack(rollout.order)

    def _gave_up(self, key: Key) -> bool:
        """Return whether the last problem already reports that this conversation was given up."""
        last = self.problems[-1] if self.problems else None
        return last is not None and last.key == key and last.wait_s is None

    def _progress(self, record: Asked | Scored | Tried | Lost) -> None:
        rollout = self._to_change(record.key)
        if rollout is None:
            return
        self.changed.add(rollout.slot)
        self.running.setdefault(rollout.slot, rollout)
        match record:
            case Asked():
                self._hide_call(record)
                _apply_reply(rollout, record)
            case Scored():
                rollout.tracks = rollout.tracks or {}
                track = rollout.tracks.setdefault(record.name, Track())
                track.values.append(record.value)
                track.threshold, track.role = record.threshold, record.role
                self.track_names[record.name] = record.threshold
            case Tried():
                self._hide_call(record)
                rollout.tries += 1
                if record.wait_s and self.status is not None:  # the engine says so only with its next status
                    rollout.state, rollout.since = "waiting", record.at
                self._report(_problem(record))
            case Lost():
                self._report(Problem(record.at, record.key, "worker lost", f"{record.worker}: {record.why}"))

    def _hide_call(self, record: Asked | Tried) -> None:
        if self._shown_calls and self._shown_calls.get(record.key) == record.n:
            del self._shown_calls[record.key]

    def _confine(self, level: Confinement) -> None:
        if self.confinement is None or len(level.missing) > len(self.confinement.missing):
            self.confinement = level

    def _close(self, record: Closed) -> None:
        self._interrupt()
        if record.message:
            self._report(Problem(record.at, None, record.reason, record.message, is_error=True))

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        self.problem_count += 1

    def _apply_status(self, frame: Status) -> None:
        self.status = frame
        for activity in frame.activities:
            rollout = self._live(activity.key)
            if rollout is None:
                continue
            if (rollout.state, rollout.why) != (activity.state, activity.why):
                rollout.state, rollout.why, rollout.since = activity.state, activity.why, activity.since
                self.changed.add(rollout.slot)

    def _begin(self, frame: Began) -> None:
        rollout = self._live(frame.key)
        if rollout is None:
            return
        if frame.role != "model" or self._shown_calls.setdefault(frame.key, frame.n) != frame.n:
            self._side_calls.setdefault(frame.key, set()).add(frame.n)
        else:
            rollout.turn, rollout.step, rollout.recent_text = frame.turn, frame.step, ""
        self.changed.add(rollout.slot)

    def _extend(self, delta: Delta) -> None:
        self.pace.wrote(len(delta.text))
        rollout = self._live(delta.key)
        if rollout is not None and delta.n not in self._side_calls.get(delta.key, ()):
            if self._shown_kinds.setdefault(delta.key, delta.kind) != delta.kind:  # an answer after its reasoning
                self._shown_kinds[delta.key], rollout.recent_text = delta.kind, ""
            rollout.append_text(delta.text)
            if rollout.state in _BEFORE_TEXT:
                rollout.state = "streaming"
            self.changed.add(rollout.slot)

    def _live(self, key: Key) -> Rollout | None:
        rollout = self._to_change(key)
        return rollout if rollout is not None and rollout.is_running else None


def _conclude(rollout: Rollout, record: Finished) -> None:
    verdict = record.verdict
    if rollout.key != record.key:  # else the object already in memory
        rollout.key = record.key
    rollout.outcome, rollout.reason, rollout.subject = verdict.outcome, intern(verdict.reason or ""), verdict.subject
    rollout.message = verdict.messages[0][:MESSAGE_LIMIT] if verdict.messages else ""
    called = answered_functions(verdict.detail.get("decoded"), record.output)
    rollout.function = intern(rollout.function or str(verdict.detail.get("function") or "") or next(iter(called), ""))
    rollout.functions = with_functions(rollout.functions, called)
    rollout.scores = verdict.scores or NO_SCORES
    rollout.state = rollout.why = ""
    rollout.ended_at, rollout.seconds = record.at, record.seconds
    rollout.input_tokens, rollout.output_tokens = record.input_tokens, record.output_tokens
    rollout.cost_usd, rollout.calls, rollout.cut = record.cost_usd, record.calls, record.cut
    rollout.written, rollout.server = intern(record.written), intern(record.server)


def _apply_reply(rollout: Rollout, record: Asked) -> None:
    rollout.calls += 1
    reply = record.reply
    if reply.usage is not None:
        rollout.input_tokens += reply.usage.input
        rollout.output_tokens += reply.usage.output
    if record.role != "model":
        return
    rollout.turn, rollout.step = record.turn, record.step
    rollout.model = intern(reply.model) or rollout.model
    if reply.tool_calls and not rollout.function:
        rollout.function = intern(reply.tool_calls[0].name)
    if reply.tool_calls:
        rollout.functions = with_functions(rollout.functions, [call.name for call in reply.tool_calls])
    calls = " ".join(f"{call.name}({call.arguments})" for call in reply.tool_calls[:3])
    rollout.recent_text = ""
    rollout.append_text(reply.content or calls)


def _problem(record: Tried) -> Problem:
    is_error = record.wait_s is None or record.kind in _HALTING
    return Problem(record.at, record.key, record.kind, record.message, record.wait_s, is_error)
