"""The keeper of an endpoint's limits, for all processes that use it with the same key.

It leases concurrent calls and, under a limit of requests per minute, allows single starts. The number of calls is
learned from the answers of all processes (`learned`), below the configured ceiling. The sum of leases never exceeds it:
calls taken from one process go to another only once they have ended, and those of a dead process count until their
maximum duration has passed. Pauses apply to all. Does no I/O: time and messages come from `keeper_socket`.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from console.llm.limits.chance import Refusal
from console.llm.limits.learned import Learned, LearnedLimit

GRACE_S = 1.0
"""Seconds that a new keeper waits for the previous one's processes to report their calls."""
_ANSWERS = 4.0
"""Assumed maximum duration of a dead process's calls, in usual answer times."""
_UNKNOWN_S = 10.0
"""Assumed maximum duration of those calls in seconds, if no answer time is known."""
_LEAST_S = 0.5
_TURN_S = 1.0
"""Seconds per turn when there are fewer allowed calls than processes."""
_LEAST_GAP_S = 0.001
"""Minimum seconds between starts for the interval to count as a pace."""
AT_RPM = "at the limit of requests per minute"
AT_PACE = "at the pace that the provider takes"


class KeeperMessage(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="k", tag=str.lower):
    """Base of all messages."""


class Join(KeeperMessage, frozen=True):
    """First message of a process: it uses the endpoint, with these configured limits."""

    ceiling: int | None
    rpm: int | None
    longest_s: float
    """Maximum duration of a call in seconds."""
    in_flight: int = 0
    others: int = 0
    """Number of processes that shared the limits before, for a new keeper."""
    learned: Learned | None = None
    """Limits learned by the previous keeper."""


class Want(KeeperMessage, frozen=True):
    """Current demand of a process."""

    requests: int
    """Calls in flight or waiting."""
    in_flight: int
    starts: int
    """Starts used, plus calls waiting to start."""
    started: int = 0
    """Starts used."""
    answer_s: float | None = None
    """Usual answer time."""
    ended: int = 0
    """Calls ended since its `Join`."""
    good: int = 0
    """Number of ended calls with a good answer."""
    good_when_full: int = 0
    """Number of good answers received while the whole lease was in use."""
    light: int = 0
    """Light calls sent since its `Join`; see `chance`."""
    light_refused: int = 0
    """Number of light calls that met a rate limit by chance."""
    heavy_refused: int = 0
    """Other calls that met a rate limit."""


class Holds(KeeperMessage, frozen=True):
    """A process has reduced its calls in flight to a lease."""

    serial: int


class Paused(KeeperMessage, frozen=True):
    """The provider asks for a pause; sent both ways."""

    seconds: float
    why: str


class Refused(KeeperMessage, frozen=True):
    """A call met a rate limit that is not chance; a `Want` is sent just before."""

    cuts: int
    """Rate-limit episodes known when the call started."""
    is_light: bool = False
    """True if the call was light."""
    row: int = 1
    """Number of consecutive refusals, including this one."""


class Forget(KeeperMessage, frozen=True):
    """Reset the count of calls accepted since the last rate limit: the provider was down."""

    pace: bool = False
    """True if the user asked to continue at once: also end the pause and forget the pace."""


class Terms(KeeperMessage, frozen=True):
    """The configured limits of a process have changed, because a second model uses the endpoint."""

    ceiling: int | None
    rpm: int | None


class Leave(KeeperMessage, frozen=True):
    """A process has ended with no calls in flight."""


class Lease(KeeperMessage, frozen=True):
    """Number of concurrent calls a process may have."""

    requests: int
    processes: int
    """Number of processes that share the limits."""
    serial: int
    """Number of the lease, for `Holds`."""
    learned: Learned
    """Limits learned so far."""
    why_paced: str = ""
    """Reason why each start needs a `Starts`; empty if it needs none."""
    grows: bool = False
    """True if good answers with a fully used lease raise the limit."""
    is_light: bool = False
    """True if calls sent now are light; see `chance`."""


class Starts(KeeperMessage, frozen=True):
    """Number of starts allowed since a process's `Join`."""

    total: int


ToKeeper = Join | Want | Holds | Refused | Forget | Paused | Terms | Leave
FromKeeper = Lease | Starts | Paused


@dataclass(slots=True)
class _Process:
    number: int
    join: Join
    demand: Want
    """Last report of the process."""
    lease: int = 0
    still_out: int = 0
    """Calls possibly still in flight from a larger lease."""
    shrunk: int = 1
    """Serial of the last lease that was smaller than its predecessor."""
    started: int = 0
    serial: int = 0
    """Number of its last lease; 0 before the first."""
    sent: tuple[object, ...] = ()
    """Content of its last lease; an equal one is not sent again."""

    @property
    def counted(self) -> int:
        return max(self.lease, self.still_out)

    @property
    def want(self) -> int:
        return self.demand.requests


class Keeper:
    """Leases the calls of one endpoint to processes."""

    def __init__(self, send: Callable[[int, FromKeeper], None], now: float) -> None:
        """Start with no processes.

        Args:
            send: sends a message to a process, by number.
            now: monotonic time in seconds.
        """
        self._send = send
        self._learned = LearnedLimit(None)
        self._processes: dict[int, _Process] = {}
        self._dead: deque[tuple[float, int]] = deque()
        self._next_start = self._paused_until = now
        self._grace_until = now
        self._expected = 0
        self._why = ""
        self._rpm: int | None = None
        self._is_stale = True
        """True if an event may have changed leases; most messages only ask for starts."""
        self._lent: tuple[object, ...] = ()
        """Inputs from which the last leases were computed, in addition to the demands."""
        self._is_scarce = False

    def __len__(self) -> int:
        """Return the number of processes that share the limits."""
        return len(self._processes)

    @property
    def ceiling(self) -> int | None:
        """Widest ceiling of any process, following the same rule as for the models of one process."""
        given = [process.join.ceiling for process in self._processes.values() if process.join.ceiling is not None]
        return max(given) if given else None

    @property
    def rpm(self) -> int | None:
        """Strictest rpm of any process."""
        return min((p.join.rpm for p in self._processes.values() if p.join.rpm is not None), default=None)

    def receive(self, number: int, message: ToKeeper, now: float) -> float | None:
        """Handle a message of a process; return when `tick` is due."""
        process = self._processes.get(number)
        is_plain = isinstance(message, Want) and process is not None and message.requests == process.want
        self._is_stale = self._is_stale or not is_plain
        match message:
            case Join() if process is None:
                self._join(number, message, now)
            case Want() if process is not None:
                self._learn(process.demand, message)
                process.demand = message
                process.started = max(process.started, message.started)  # some without a pace
            case Holds() if process is not None:
                if message.serial >= process.shrunk:
                    process.still_out = 0
            case Refused(cuts=cuts, is_light=is_light, row=row) if process is not None:
                refusal = Refusal(cuts, is_light, row)
                in_flight = sum(process.demand.in_flight for process in self._processes.values())
                self._learned.throttled(in_flight, refusal, now, self._paused_until)
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
        return self._advance(now)

    def lose(self, number: int, now: float) -> float | None:
        """Remove a process that vanished; its calls may still run, so they count for a while."""
        process = self._processes.pop(number, None)
        if process is not None and (left := min(process.counted, process.demand.in_flight)):
            answer_s = process.demand.answer_s
            usual = _UNKNOWN_S if answer_s is None else max(_LEAST_S, answer_s * _ANSWERS)
            self._dead.append((now + min(usual, process.join.longest_s), left))
        self._is_stale = True
        return self._advance(now)

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
        """Learn from the calls that ended since a process's last report."""
        for _ in range(now.ended - before.ended):
            self._learned.ended()
        light = now.light - before.light
        self._learned.count_sent(light, now.started - before.started - light)
        self._learned.refused(now.light_refused - before.light_refused, now.heavy_refused - before.heavy_refused)
        full = now.good_when_full - before.good_when_full
        for place in range(now.good - before.good):
            self._learned.succeeded(is_full=place < full)

    def _forget(self, now: float, *, pace: bool) -> None:
        self._learned.forget_passed()
        if pace:
            self._learned.forget_pace()
            self._paused_until = self._next_start = now

    def tick(self, now: float) -> float | None:
        """Lease free calls; return when the next tick is due, or None if a message comes first."""
        self._is_stale = self._is_stale or bool(self._dead) or self._expected > 0
        return self._advance(now)

    def _advance(self, now: float) -> float | None:
        while self._dead and min(until for until, _ in self._dead) <= now:
            self._dead = deque((until, left) for until, left in self._dead if until > now)
        if self._is_stale:
            self._rpm = self.rpm
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
        """Distribute the limit, unless nothing has changed; return True if processes take turns."""
        made_of = (self._learned.limit, *self._shared_terms())
        if not (self._is_stale or self._is_scarce or made_of != self._lent):
            return False
        self._is_stale, self._lent = False, made_of
        limit, processes = self._learned.limit, list(self._processes.values())
        available = max(0, limit - sum(left for _, left in self._dead))
        is_scarce = 0 < available < sum(bool(process.want) for process in processes)
        targets = self._turns(available, now) if is_scarce else self._targets(available)
        if now < self._grace_until and len(processes) < self._expected:
            targets = {number: min(limit // self._expected, target) for number, target in targets.items()}
        for process in processes:
            if targets[process.number] < process.lease:
                process.still_out = max(process.still_out, process.lease)
                process.shrunk = process.serial + 1
                process.lease = targets[process.number]
        free = available - sum(process.counted for process in processes)
        for process in processes:
            room = free + process.counted  # a process may keep its lease
            lease = min(targets[process.number], room)
            if lease > process.lease:
                free -= max(0, lease - process.counted)
                process.lease = lease
        self._send_leases(processes)
        self._is_scarce = is_scarce
        return is_scarce

    def _targets(self, available: int) -> dict[int, int]:
        """Return even shares of the demand; a surplus stays with its process, or goes to the only one."""
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
        """Return one call each for as many processes as there are calls, in turn."""
        wanting = [process.number for process in self._processes.values() if process.want]
        first = math.floor(now / _TURN_S) * available % len(wanting)
        turn = (wanting * 2)[first : first + available]
        return {number: int(number in turn) for number in self._processes}

    def _send_leases(self, processes: Sequence[_Process]) -> None:
        """Send the leases that differ from the last ones in relevant fields."""
        learned, why_paced = self._learned.learned, self._pace()[1]
        grows, is_light = self._learned.can_grow, self._learned.is_light
        shared = self._shared_terms()
        for process in processes:
            if process.sent != (said := (process.lease, shared)):
                process.sent = said
                process.serial += 1
                lease = Lease(process.lease, len(processes), process.serial, learned, why_paced, grows, is_light)
                self._send(process.number, lease)

    def _shared_terms(self) -> tuple[object, ...]:
        """Return the terms common to all leases; changes must be sent."""
        learned = self._learned
        chance = round(learned.chance, 2)
        return len(self._processes), learned.cuts, chance, self._pace()[1], learned.can_grow, learned.is_light

    def _pace(self) -> tuple[float, str]:
        """Return the seconds between two starts and the reason; 0 for no limit."""
        rpm, pace_s = self._rpm, self._learned.pace_s
        gap_s = 60.0 / rpm if rpm else 0.0
        if pace_s > max(gap_s, _LEAST_GAP_S):
            return pace_s, AT_PACE
        return gap_s, AT_RPM if gap_s else ""

    def _hand_out_starts(self, now: float) -> float | None:
        """Allow due starts, to each process in turn; return when the next one is due."""
        gap, _ = self._pace()
        if not gap:
            return None
        self._next_start = max(self._next_start, now - gap)  # unused time is lost
        while waiting := [p for p in self._processes.values() if p.demand.starts > p.started]:
            if (due := max(self._next_start, self._paused_until)) > now:
                return due
            process = min(waiting, key=lambda process: (process.started, process.number))
            process.started += 1
            self._next_start = max(self._next_start, now) + gap
            self._send(process.number, Starts(process.started))
        return None


def share_alone(ceiling: int | None, processes: int) -> int | None:
    """Return each process's part of the ceiling without a keeper; the parts never exceed it in total."""
    return None if ceiling is None else math.floor(ceiling / max(1, processes))
