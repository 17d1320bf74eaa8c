"""The keeper of an endpoint's limits: one for all processes that ask it with the same key, wherever they run.

It lends calls at once, and hands out starts where requests a minute are limited. What is lent is never more than the
ceiling: what one process is to give back is lent to another only when it is back, and what a dead one had in flight
counts until its calls could have ended. A pause that one process learns of is everybody's. Pure: time and messages come
from outside (`keeper_socket`).
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

GRACE_S = 1.0
"""For so long a keeper that follows another one waits for all who were there to say what they have in flight."""
_ANSWERS = 4.0
"""The calls of a dead process are taken to last this many usual answer times at most."""
_UNKNOWN_S = 10.0
"""The same where no answer time is known."""
_LEAST_S = 0.5


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


class Want(KeeperMessage, frozen=True):
    """How much a process could use now."""

    requests: int
    """Calls at once: those in flight and those that wait."""
    in_flight: int
    starts: int
    """Starts used so far, and calls that wait to be started."""
    answer_s: float | None = None
    """Its usual time of an answer."""


class Holds(KeeperMessage, frozen=True):
    """A process has no more calls in flight than a lease allows, and will have no more."""

    serial: int


class Paused(KeeperMessage, frozen=True):
    """The provider asks for a pause; both ways."""

    seconds: float
    why: str


class Terms(KeeperMessage, frozen=True):
    """What models.toml allows a process has changed, as a second model of it asks the same endpoint."""

    ceiling: int | None
    rpm: int | None


class Leave(KeeperMessage, frozen=True):
    """A process has ended in order: nothing of it is in flight."""


class Lease(KeeperMessage, frozen=True):
    """How many calls at once a process may have; None: as many as it likes."""

    requests: int | None
    processes: int
    """How many share the limits."""
    serial: int
    """Number of the lease, by which the process answers when it keeps to it."""


class Starts(KeeperMessage, frozen=True):
    """How many calls a process may have started, counted from its `Join`."""

    total: int


ToKeeper = Join | Want | Holds | Paused | Terms | Leave
FromKeeper = Lease | Starts | Paused


@dataclass(slots=True)
class _Process:
    number: int
    join: Join
    lease: int = 0
    held: int = 0
    """What it may have in flight still, from a larger lease."""
    want: int = 0
    in_flight: int = 0
    starts: int = 0
    started: int = 0
    answer_s: float | None = None
    serial: int = 0
    told: tuple[int | None, int] | None = None
    """The lease and number of processes that it was told last."""

    @property
    def counted(self) -> int:
        return max(self.lease, self.held)


class Keeper:
    """Limits of one endpoint, lent to processes."""

    def __init__(self, send: Callable[[int, FromKeeper], None], now: float) -> None:
        """Lend nothing yet.

        Args:
            send: says something to a process, by its number.
            now: seconds of a clock that never goes back.
        """
        self._send = send
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
                process.want, process.in_flight = message.requests, message.in_flight
                process.starts, process.answer_s = message.starts, message.answer_s
            case Holds() if process is not None:
                if message.serial == process.serial:
                    process.held = 0
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
        if process is not None and (left := min(process.counted, process.in_flight)):
            usual = _UNKNOWN_S if process.answer_s is None else max(_LEAST_S, process.answer_s * _ANSWERS)
            self._dead.append((now + min(usual, process.join.longest_s), left))
        return self.tick(now)

    def _join(self, number: int, join: Join, now: float) -> None:
        if join.others and not self._processes:
            self._expected, self._grace_until = join.others, now + GRACE_S
            self._next_start = now + GRACE_S
        self._processes[number] = _Process(number, join, held=join.in_flight, in_flight=join.in_flight)
        if now < self._paused_until:
            self._send(number, Paused(self._paused_until - now, self._why))

    def _pause(self, number: int, message: Paused, now: float) -> None:
        if now + message.seconds <= self._paused_until:
            return
        self._paused_until, self._why = now + message.seconds, message.why
        for other in self._processes:
            if other != number:
                self._send(other, message)

    def tick(self, now: float) -> float | None:
        """Lend what is free; return when to be called again at the latest, None: when something is said."""
        while self._dead and min(until for until, _ in self._dead) <= now:
            self._dead = deque((until, left) for until, left in self._dead if until > now)
        self._lend(now)
        due = [until for until, _ in self._dead]
        if now < self._grace_until:
            due.append(self._grace_until)
        if (start := self._hand_out_starts(now)) is not None:
            due.append(start)
        return min(due, default=None)

    def _lend(self, now: float) -> None:
        ceiling, processes = self.ceiling, list(self._processes.values())
        if ceiling is None:
            for process in processes:
                self._set(process, None)
            return
        targets = self._targets(ceiling - sum(left for _, left in self._dead), processes, now)
        for process in processes:
            if targets[process.number] < process.lease:
                process.held = max(process.held, process.lease)
                self._set(process, targets[process.number])
        free = ceiling - sum(left for _, left in self._dead) - sum(process.counted for process in processes)
        for process in processes:
            room = free + process.counted  # what it holds already is its own to have again
            lease = min(targets[process.number], room)
            if lease > process.lease:
                free -= max(0, lease - process.counted)
            self._set(process, max(lease, process.lease))

    def _targets(self, available: int, processes: list[_Process], now: float) -> dict[int, int]:
        """Share out evenly what is wanted; what nobody wants stays with who has it, or goes to the only one."""
        targets = dict.fromkeys((process.number for process in processes), 0)
        left, open_ = max(0, available), sorted(processes, key=lambda process: process.want)
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
        if now < self._grace_until and len(processes) < self._expected:
            most = (self.ceiling or 0) // self._expected
            targets = {number: min(most, target) for number, target in targets.items()}
        return targets

    def _set(self, process: _Process, lease: int | None) -> None:
        process.lease = lease or 0
        if process.told != (lease, len(self._processes)):
            process.told = (lease, len(self._processes))
            process.serial += 1
            self._send(process.number, Lease(*process.told, process.serial))

    def _hand_out_starts(self, now: float) -> float | None:
        """Give a start to each in turn, as time allows; return when the next one is due."""
        rpm = self.rpm
        if rpm is None:
            return None
        gap = 60.0 / rpm
        self._next_start = max(self._next_start, now - gap)  # time that nobody used is over
        while waiting := [process for process in self._processes.values() if process.starts > process.started]:
            if (due := max(self._next_start, self._paused_until)) > now:
                return due
            process = min(waiting, key=lambda process: (process.started, process.number))
            process.started += 1
            self._next_start = max(self._next_start, now) + gap
            self._send(process.number, Starts(process.started))
        return None


def share_alone(ceiling: int | None, processes: int) -> int | None:
    """Return what each process may have at once while no keeper is there: all together never more than the ceiling."""
    return None if ceiling is None else math.floor(ceiling / max(1, processes))
