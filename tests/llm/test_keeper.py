"""Limits lent to several processes: never more than there is, even parts, and nothing lost with who dies."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.llm.limits.keeper import FromKeeper, Holds, Join, Keeper, Lease, Leave, Paused, Refused, Starts, Want
from console.llm.limits.learned import Learned
from console.llm.limits.share import LimitShare


class Processes:
    """Processes in virtual time, each with calls that it would make, and a keeper."""

    def __init__(self, ceiling: int | None, rpm: int | None = None) -> None:
        self.now, self.ceiling, self.rpm = 0.0, ceiling, rpm
        self.keeper = Keeper(self.hear, self.now)
        self.lease: dict[int, int] = {}
        self.learned: Learned | None = None
        self.good: dict[int, int] = defaultdict(int)
        self.in_flight: dict[int, int] = defaultdict(int)
        self.wanted: dict[int, int] = defaultdict(int)
        self.allowed: dict[int, int] = defaultdict(int)
        self.started: dict[int, int] = defaultdict(int)
        self.starts: list[float] = []
        self.paused: dict[int, list[Paused]] = defaultdict(list)
        self.due: float | None = None
        self.owes: dict[int, int] = {}

    def hear(self, number: int, message: FromKeeper) -> None:
        match message:
            case Lease(requests=requests, serial=serial, learned=learned):
                self.lease[number], self.learned = requests, learned
                self.owes[number] = serial
            case Starts(total=total):
                self.allowed[number] = total
            case Paused():
                self.paused[number].append(message)

    def tell(self, number: int, message: Join | Want | Holds | Refused | Paused | Leave) -> None:
        self.due = self.keeper.receive(number, message, self.now)

    def join(self, number: int, in_flight: int = 0, others: int = 0, learned: Learned | None = None) -> None:
        self.lease[number] = 0
        self.tell(number, Join(self.ceiling, self.rpm, 60.0, in_flight, others, learned))

    def want(self, number: int, requests: int) -> None:
        self.wanted[number] = requests
        self.report(number)
        self.go_on(number)

    def report(self, number: int) -> None:
        waiting = max(0, self.wanted[number] - self.in_flight[number])
        starts, started, good = self.started[number] + waiting, self.started[number], self.good[number]
        self.tell(number, Want(self.wanted[number], self.in_flight[number], starts, started, 0.1, good, good, good))

    def answer(self, number: int) -> None:
        """Have a call answered well, while all that is lent is in use."""
        self.good[number] += 1
        self.report(number)
        self.go_on(number)

    def go_on(self, number: int) -> None:
        """Start what may be started, and say what was asked for."""
        while self.in_flight[number] < self.wanted[number] and self.may_start(number):
            self.in_flight[number] += 1
            self.started[number] += 1
            self.starts.append(self.now)
        if number in self.owes and self.in_flight[number] <= self.lease[number]:
            self.tell(number, Holds(self.owes.pop(number)))

    def may_start(self, number: int) -> bool:
        lease = self.lease[number]
        has_start = self.rpm is None or self.allowed[number] > self.started[number]
        return has_start and self.in_flight[number] < lease

    def finish(self, number: int) -> None:
        if self.in_flight[number]:
            self.in_flight[number] -= 1
            self.go_on(number)
            self.report(number)

    def die(self, number: int) -> None:
        self.due = self.keeper.lose(number, self.now)
        self.lease.pop(number, None)
        self.wanted.pop(number, None)
        self.owes.pop(number, None)

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while self.due is not None and self.due <= end:
            self.now = max(self.now, self.due)
            self.due = self.keeper.tick(self.now)
            for number in list(self.lease):
                self.go_on(number)
        self.now = end
        self.due = self.keeper.tick(self.now)

    def settle(self) -> None:
        for _ in range(4):
            for number in list(self.lease):
                self.go_on(number)


def test_one_alone_has_all_of_it_at_once() -> None:
    world = Processes(8)
    world.join(1)
    world.want(1, 3)
    assert world.lease[1] == 8


def test_two_share_evenly_as_calls_end_and_never_have_more_together() -> None:
    world = Processes(8)
    world.join(1)
    world.want(1, 20)
    assert world.in_flight[1] == 8
    world.join(2)
    world.want(2, 20)
    assert world.in_flight[2] == 0, "all of it is in use"
    for _ in range(4):
        world.finish(1)
        world.settle()
        assert sum(world.in_flight.values()) <= 8
    assert (world.in_flight[1], world.in_flight[2]) == (4, 4)


def test_calls_of_the_dead_count_until_they_could_have_ended() -> None:
    world = Processes(8)
    world.join(1)
    world.join(2)
    world.want(1, 20)
    world.settle()
    world.report(1)
    world.want(2, 20)
    dead = world.in_flight[1]
    assert dead == 8
    world.die(1)
    world.settle()
    assert world.in_flight[2] <= 8 - dead
    world.pass_time(1.0)
    world.settle()
    assert world.in_flight[2] == 8


def test_who_leaves_in_order_leaves_all_at_once() -> None:
    world = Processes(8)
    world.join(1)
    world.join(2)
    world.want(1, 20)
    world.want(2, 20)
    world.settle()
    while world.in_flight[1]:
        world.wanted[1] = 0
        world.finish(1)
    world.tell(1, Leave())
    world.settle()
    assert world.in_flight[2] == 8


def test_a_pause_of_one_is_everybodys_also_of_who_comes_later() -> None:
    world = Processes(None)
    world.join(1)
    world.join(2)
    world.tell(1, Paused(5.0, "rate limited"))
    assert [pause.seconds for pause in world.paused[2]] == [5.0]
    assert world.paused[1] == []
    world.now = 2.0
    world.join(3)
    assert [pause.seconds for pause in world.paused[3]] == [3.0]


def test_what_nobody_has_limited_is_learnt_once_for_all() -> None:
    world = Processes(None)
    for number in (1, 2):
        world.join(number)
        world.want(number, 100)
    while world.in_flight[1] > 16:
        world.finish(1)
    world.settle()
    start = sum(world.in_flight.values())
    assert (start, world.in_flight[1]) == (32, 16), "as many as one process begins with"
    for number in (1, 2):
        world.answer(number)
    world.settle()
    assert sum(world.in_flight.values()) == start + 2, "good answers of all add to one number"
    for number in (1, 2, 2):
        world.tell(number, Refused(cuts=0))
    assert sum(world.lease.values()) in (24, 25), "one episode, whoever is refused in it"
    world.tell(2, Refused(cuts=1))
    assert sum(world.lease.values()) == 18, "who was refused later is of the next"


def test_refusals_by_chance_are_counted_for_all_and_lower_nothing() -> None:
    world = Processes(None)
    for number in (1, 2):
        world.join(number)
        world.want(number, 8)
    world.tell(1, Refused(cuts=0))
    lowered = sum(world.lease.values())
    for number in (1, 2):
        world.tell(number, Want(8, 6, 0, started=30, light=20, light_refused=4))
        world.tell(number, Refused(cuts=1, is_light=True))
    assert world.learned is not None
    assert world.learned.chance == pytest.approx(0.18, abs=0.04)
    assert sum(world.lease.values()) >= lowered
    world.tell(1, Refused(cuts=1, is_light=True, row=5))
    assert sum(world.lease.values()) < lowered, "so many in a row are not chance"


def test_who_follows_a_keeper_knows_what_was_learnt() -> None:
    world = Processes(None)
    world.join(1)
    world.join(2, learned=Learned(limit=5.5, pace_s=0.0, cuts=3))
    world.join(3, learned=Learned(limit=40.0, pace_s=0.0, cuts=0))
    assert world.learned == Learned(5.5, 0.0, 3)
    assert sum(world.lease.values()) == 5


def test_where_there_is_less_than_one_for_each_they_take_turns() -> None:
    world = Processes(1)
    for number in (1, 2, 3):
        world.join(number)
        world.want(number, 5)
    for _ in range(60):
        world.pass_time(0.1)
        for number in (1, 2, 3):
            world.finish(number)
            world.settle()
        assert sum(world.in_flight.values()) <= 1
    assert min(world.started.values()) >= 10


def test_starts_a_minute_are_those_of_all_together() -> None:
    world = Processes(1000, rpm=300)
    for number in (1, 2, 3):
        world.join(number)
        world.want(number, 1000)
    world.pass_time(60.0)
    assert 290 <= len(world.starts) <= 301
    each = [world.started[number] for number in (1, 2, 3)]
    assert max(each) - min(each) <= 1
    gaps = [later - earlier for earlier, later in zip(world.starts, world.starts[1:], strict=False)]
    assert min(gaps[1:]) >= 0.2 - 1e-9


def test_no_start_is_handed_out_during_a_pause_to_go_out_in_a_heap_after_it() -> None:
    world = Processes(None, rpm=60)
    world.join(1)
    world.tell(1, Paused(5.0, "rate limited"))
    world.want(1, 10)
    world.pass_time(4.9)
    assert world.allowed[1] == 0
    world.pass_time(2.2)
    assert world.allowed[1] == 3


async def test_a_start_that_cannot_be_used_yet_is_not_asked_for() -> None:
    sent: list[object] = []
    share = LimitShare(8, 300, 60.0)
    share.attach(lambda: None, lambda seconds, why: None)
    share.connected(sent.append)
    share.received(Lease(2, 1, 1, Learned(8.0, 0.0, 0), "at the limit of requests per minute"))
    share.note(0, 10, None)
    assert [message.starts for message in sent if isinstance(message, Want)][-1] == 2
    share.leave()


def test_a_keeper_that_follows_another_waits_for_those_who_were_there() -> None:
    world = Processes(8)
    world.join(1, in_flight=0, others=2)
    world.want(1, 20)
    assert world.in_flight[1] <= 4
    world.in_flight[2] = world.wanted[2] = 4
    world.join(2, in_flight=4, others=2)
    world.settle()
    assert world.in_flight[1] <= 4
    world.pass_time(2.0)
    world.settle()
    assert world.in_flight[1] <= 8 - 4


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 30)), max_size=60), st.integers(1, 12))
def test_whatever_happens_no_more_is_in_flight_than_the_ceiling(steps, ceiling) -> None:
    world = Processes(ceiling)
    ghosts: list[tuple[float, int]] = []
    for what, number, amount in steps:
        if number not in world.lease and what != 5:
            world.join(number, in_flight=0)
            world.in_flight[number] = 0
        match what:
            case 0 | 1:
                world.want(number, amount)
            case 2 | 3:
                world.finish(number)
            case 4 if number in world.lease:
                world.report(number)
                ghosts.append((world.now + 0.5, world.in_flight.pop(number, 0)))
                world.die(number)
            case _:
                world.pass_time(amount / 10)
        world.settle()
        left = sum(count for until, count in ghosts if until > world.now)
        assert sum(world.in_flight.values()) + left <= ceiling
