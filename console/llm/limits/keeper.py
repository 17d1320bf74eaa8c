"""The keeper of an endpoint's limits: one for all processes that ask it with the same key, wherever they run.

It lends calls at once, and hands out starts where requests a minute are limited. How many calls there are to lend is
learnt from what all processes meet (`learned_limit`), below the ceiling that somebody has set. What is lent is never
more: what one process is to give back is lent to another only when it is back, and what a dead one had in flight counts
until its calls could have ended. A pause that one process learns of is everybody's. Pure: time and messages come from
outside (`keeper_socket`).
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from console.llm.limits.learned import Learned, LearnedLimit

GRACE_S = 1.0
"""For so long a keeper that follows another one waits for all who were there to say what they have in flight."""
_ANSWERS = 4.0
"""The calls of a dead process are taken to last this many usual answer times at most."""
_UNKNOWN_S = 10.0
"""The same where no answer time is known."""
_LEAST_S = 0.5
_TURN_S = 1.0
"""Where there are fewer calls at once than processes that want one, those take turns of this length."""
_LEAST_GAP_S = 0.001
"""A pace that is quicker than this is none."""
AT_RPM = "at the limit of requests per minute"
AT_PACE = "at the pace that the provider takes"


class KeeperMessage(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="k", tag=str.lower):
    """Common head of all messages."""


class Join(KeeperMessage, frozen=True):
    """A process asks the endpoint, and what models.toml allows it there; the first thing it says."""

    ceiling: int | None
    rpm: int | None
    longest_s: float
    """How long one of its calls may last."""
    in_flight: int = 0
    others: int = 0
    """How many shared the limits with it before, for a keeper that follows another one."""
    learned: Learned | None = None
    """What that one had learnt."""


class Want(KeeperMessage, frozen=True):
    """How much a process could use now."""

    requests: int
    """Calls at once: those in flight and those that wait."""
    in_flight: int
    starts: int
    """Starts used so far, and calls that wait to be started."""
    started: int = 0
    """Starts used so far."""
    answer_s: float | None = None
    """Its usual time of an answer."""
    ended: int = 0
    """Calls that have ended since its `Join`,"""
    good: int = 0
    """those of them with a good answer,"""
    good_when_full: int = 0
    """and those while all that was lent was in use."""


class Holds(KeeperMessage, frozen=True):
    """A process has no more calls in flight than a lease allows, and will have no more but by a larger one."""

    serial: int


class Paused(KeeperMessage, frozen=True):
    """The provider asks for a pause; both ways."""

    seconds: float
    why: str


class Refused(KeeperMessage, frozen=True):
    """A call met a rate limit; how things stand was said just before."""

    cuts: int
    """Episodes of rate limits that were known when the call started."""


class Forget(KeeperMessage, frozen=True):
    """What went through since the last rate limit tells of no pace: the provider was down meanwhile."""

    pace: bool = False
    """A person asks to go on at once: nor is there a pause, or a pace from before."""


class Terms(KeeperMessage, frozen=True):
    """What models.toml allows a process has changed, as a second model of it asks the same endpoint."""

    ceiling: int | None
    rpm: int | None


class Leave(KeeperMessage, frozen=True):
    """A process has ended in order: nothing of it is in flight."""


class Lease(KeeperMessage, frozen=True):
    """How many calls at once a process may have."""

    requests: int
    processes: int
    """How many share the limits."""
    serial: int
    """Number of the lease, by which a process that had more answers when it keeps to it."""
    learned: Learned
    """What is known of the endpoint."""
    why_paced: str = ""
    """Why each start needs one of `Starts`; empty: it does not."""
    grows: bool = False
    """Whether there will be more to lend when good answers are said that came while all was in use."""


class Starts(KeeperMessage, frozen=True):
    """How many calls a process may have started, counted from its `Join`."""

    total: int


ToKeeper = Join | Want | Holds | Refused | Forget | Paused | Terms | Leave
FromKeeper = Lease | Starts | Paused


@dataclass(slots=True)
class _Process:
    number: int
    join: Join
    demand: Want
    """How things stand there, as it said last."""
    lease: int = 0
    still_out: int = 0
    """What it may have in flight still, from a larger lease."""
    shrunk: int = 1
    """Serial of the last lease that was smaller than the one before."""
    started: int = 0
    last_lease: Lease | None = None
    """What it was told last."""

    @property
    def counted(self) -> int:
        return max(self.lease, self.still_out)

    @property
    def want(self) -> int:
        return self.demand.requests


class Keeper:
    """Limits of one endpoint, lent to processes."""

    def __init__(self, send: Callable[[int, FromKeeper], None], now: float) -> None:
        """Lend nothing yet.

        Args:
            send: says something to a process, by its number.
            now: seconds of a clock that never goes back.
        """
        self._send = send
        self._learned = LearnedLimit(None)
        self._processes: dict[int, _Process] = {}
        self._dead: deque[tuple[float, int]] = deque()
        self._next_start = self._paused_until = now
        self._grace_until = now
        self._expected = 0
        self._why = ""

    def __len__(self) -> int:
        """How many processes share the limits."""
        return len(self._processes)

    @property
    def ceiling(self) -> int | None:
        """The widest that anybody's models.toml allows, as among models of one process."""
        given = [process.join.ceiling for process in self._processes.values() if process.join.ceiling is not None]
        return max(given) if given else None

    @property
    def rpm(self) -> int | None:
        """The strictest."""
        return min((p.join.rpm for p in self._processes.values() if p.join.rpm is not None), default=None)

    def receive(self, number: int, message: ToKeeper, now: float) -> float | None:
        """Take a message of a process; return when `tick` is due at the latest."""
        process = self._processes.get(number)
        match message:
            case Join() if process is None:
                self._join(number, message, now)
            case Want() if process is not None:
                self._learn(process.demand, message)
                process.demand = message
            case Holds() if process is not None:
                if message.serial >= process.shrunk:
                    process.still_out = 0
            case Refused(cuts=cuts) if process is not None:
                in_flight = sum(process.demand.in_flight for process in self._processes.values())
                self._learned.throttled(in_flight, cuts, now, self._paused_until)
            case Forget(pace=pace) if process is not None:
                self._forget(now, pace=pace)
            case Paused() if process is not None:
                self._pause(number, message, now)
            case Terms(ceiling=ceiling, rpm=rpm) if process is not None:
                process.join = msgspec.structs.replace(process.join, ceiling=ceiling, rpm=rpm)
            case Leave() if process is not None:
                del self._processes[number]
            case _:
                return None
        return self.tick(now)

    def lose(self, number: int, now: float) -> float | None:
        """A process is gone without a word: its calls may still be answered, so they count for a while."""
        process = self._processes.pop(number, None)
        if process is not None and (left := min(process.counted, process.demand.in_flight)):
            answer_s = process.demand.answer_s
            usual = _UNKNOWN_S if answer_s is None else max(_LEAST_S, answer_s * _ANSWERS)
            self._dead.append((now + min(usual, process.join.longest_s), left))
        return self.tick(now)

    def _join(self, number: int, join: Join, now: float) -> None:
        if join.others and not self._processes:
            self._expected, self._grace_until = join.others, now + GRACE_S
            self._next_start = now + GRACE_S
        self._processes[number] = _Process(number, join, Want(0, join.in_flight, 0), still_out=join.in_flight)
        if join.learned is not None:
            self._learned.follow(join.learned)
        if now < self._paused_until:
            self._send(number, Paused(self._paused_until - now, self._why))

    def _pause(self, number: int, message: Paused, now: float) -> None:
        if now + message.seconds <= self._paused_until:
            return
        self._paused_until, self._why = now + message.seconds, message.why
        for other in self._processes:
            if other != number:
                self._send(other, message)

    def _learn(self, before: Want, now: Want) -> None:
        """Learn from the calls that have ended since a process spoke last."""
        for _ in range(now.ended - before.ended):
            self._learned.ended()
        full = now.good_when_full - before.good_when_full
        for place in range(now.good - before.good):
            self._learned.succeeded(is_full=place < full)

    def _forget(self, now: float, *, pace: bool) -> None:
        self._learned.forget_passed()
        if pace:
            self._learned.forget_pace()
            self._paused_until = self._next_start = now

    def tick(self, now: float) -> float | None:
        """Lend what is free; return when to be called again at the latest, None: when something is said."""
        while self._dead and min(until for until, _ in self._dead) <= now:
            self._dead = deque((until, left) for until, left in self._dead if until > now)
        self._learned.allow(self.ceiling)
        due = [until for until, _ in self._dead]
        if self._lend(now):
            due.append((math.floor(now / _TURN_S) + 1) * _TURN_S)
        if now < self._grace_until:
            due.append(self._grace_until)
        if (start := self._hand_out_starts(now)) is not None:
            due.append(start)
        return min(due, default=None)

    def _lend(self, now: float) -> bool:
        """Share out what there is; return whether processes take turns."""
        limit, processes = self._learned.limit, list(self._processes.values())
        available = max(0, limit - sum(left for _, left in self._dead))
        is_scarce = 0 < available < sum(bool(process.want) for process in processes)
        targets = self._turns(available, now) if is_scarce else self._targets(available)
        if now < self._grace_until and len(processes) < self._expected:
            targets = {number: min(limit // self._expected, target) for number, target in targets.items()}
        for process in processes:
            if targets[process.number] < process.lease:
                process.still_out = max(process.still_out, process.lease)
                process.shrunk = process.last_lease.serial + 1 if process.last_lease is not None else 1
                process.lease = targets[process.number]
        free = available - sum(process.counted for process in processes)
        for process in processes:
            room = free + process.counted  # what it holds already is its own to have again
            lease = min(targets[process.number], room)
            if lease > process.lease:
                free -= max(0, lease - process.counted)
                process.lease = lease
        for process in processes:
            self._send_lease(process)
        return is_scarce

    def _targets(self, available: int) -> dict[int, int]:
        """Share out evenly what is wanted; what nobody wants stays with who has it, or goes to the only one."""
        processes = list(self._processes.values())
        targets, left, open_ = dict[int, int](), available, sorted(processes, key=lambda process: process.want)
        while open_:
            process = open_.pop(0)
            targets[process.number] = min(
                process.want, -(-left // (len(open_) + 1)) if not open_ else left // (len(open_) + 1)
            )
            left -= targets[process.number]
        for process in processes:
            kept = left if len(processes) == 1 else min(left, max(0, process.lease - targets[process.number]))
            targets[process.number] += kept
            left -= kept
        return targets

    def _turns(self, available: int, now: float) -> dict[int, int]:
        """Give one to each in turn, where there is not one for everybody."""
        wanting = [process.number for process in self._processes.values() if process.want]
        first = math.floor(now / _TURN_S) * available % len(wanting)
        turn = (wanting * 2)[first : first + available]
        return {number: int(number in turn) for number in self._processes}

    def _send_lease(self, process: _Process) -> None:
        last = process.last_lease
        lease = Lease(process.lease, len(self._processes), last.serial + 1 if last else 1, self._learned.learned,
                      self._pace()[1], self._learned.can_grow)  # fmt: skip
        if last is None or _terms(last) != _terms(lease):
            process.last_lease = lease
            self._send(process.number, lease)

    def _pace(self) -> tuple[float, str]:
        """Return the seconds from one start to the next, and why; 0: there is no limit."""
        rpm, pace_s = self.rpm, self._learned.pace_s
        gap_s = 60.0 / rpm if rpm else 0.0
        if pace_s > max(gap_s, _LEAST_GAP_S):
            return pace_s, AT_PACE
        return gap_s, AT_RPM if gap_s else ""

    def _hand_out_starts(self, now: float) -> float | None:
        """Give a start to each in turn, as time allows; return when the next one is due."""
        gap, _ = self._pace()
        if not gap:
            return None
        for process in self._processes.values():
            process.started = max(process.started, process.demand.started)  # before there was a pace
        self._next_start = max(self._next_start, now - gap)  # time that nobody used is over
        while waiting := [p for p in self._processes.values() if p.demand.starts > p.started]:
            if (due := max(self._next_start, self._paused_until)) > now:
                return due
            process = min(waiting, key=lambda process: (process.started, process.number))
            process.started += 1
            self._next_start = max(self._next_start, now) + gap
            self._send(process.number, Starts(process.started))
        return None


def _terms(lease: Lease) -> tuple[object, ...]:
    """What a process has to know of a lease at once."""
    return lease.requests, lease.processes, lease.learned.cuts, lease.why_paced, lease.grows


def share_alone(ceiling: int | None, processes: int) -> int | None:
    """Return what each process may have at once while no keeper is there: all together never more than the ceiling."""
    return None if ceiling is None else math.floor(ceiling / max(1, processes))
