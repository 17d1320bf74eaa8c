"""Whatever replies cost, a run spends at most its cap and what was stated."""

from dataclasses import dataclass, field

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Key
from console.core.chat import ChatRequest, Reply, Usage
from console.core.overspend import most_unlimited, overspend_words
from console.core.price import Price
from console.core.record import Asked, Tried
from console.core.run import Budget, ModelFacts
from console.engine.budget import BudgetMeter, BudgetReached, worst_case

LIMITED = ModelFacts("limited", price=Price(1.0, 100.0), params={"max_tokens": 1000})
"""At most ten cents for a reply."""
ROLES = {
    "model": ModelFacts("unlimited", price=Price(1.0, 100.0)),
    "judge": LIMITED,
    "user": ModelFacts("unpriced"),
}
REQUEST = ChatRequest([{"role": "user", "content": "x" * 300}])


@dataclass
class Till:
    """A run against a provider that charges for every call it was sent."""

    cap: float
    concurrency: int
    meter: BudgetMeter = field(init=False)
    spent: float = 0.0
    dearest: float = 0.0
    kills: int = 0
    journal: list[Asked | Tried] = field(default_factory=list)
    in_flight: dict[Key, tuple[str, float]] = field(default_factory=dict)
    count: int = 0

    def __post_init__(self) -> None:
        self.meter = self.opened()

    def opened(self) -> BudgetMeter:
        return BudgetMeter(Budget(cost_usd=self.cap), self.concurrency)

    def begin(self, role: str, usd: float) -> None:
        """Send a call that will cost this much, if the meter lets it."""
        key = Key(f"c{self.count}")
        call = worst_case(REQUEST, ROLES[role], role)
        if len(self.in_flight) < self.concurrency and self.meter.reserve((key, 1), *call):
            self.count += 1
            self.in_flight[key] = (role, min(usd, call.usd) if role == "judge" else usd)

    def end(self, key: Key, kind: str) -> None:
        role, usd = self.in_flight[key]
        self.charge(usd)
        if kind == "answered":
            usage = Usage(100, 10, cost_usd=usd)
            self.log(Asked(1.0, key, 1, "d", Reply("x", usage=usage), role))
            del self.in_flight[key]
            return
        self.log(Tried(1.0, key, 1, kind, "cut", role))
        try:
            self.meter.check_retry()
        except BudgetReached:
            self.meter.release((key, 1))
            del self.in_flight[key]

    def charge(self, usd: float) -> None:
        self.spent, self.dearest = self.spent + usd, max(self.dearest, usd)

    def log(self, record: Asked | Tried) -> None:
        self.journal.append(record)
        self.count_in(record)

    def count_in(self, record: Asked | Tried) -> None:
        facts = ROLES[record.role]
        if isinstance(record, Asked):
            self.meter.add_call(record, facts)
        else:
            self.meter.add_try(record, facts)

    def kill(self) -> None:
        """Lose the calls in flight, which the provider charges, and open the journal again."""
        lost, self.in_flight = len(self.in_flight), {}
        self.kills, self.meter = self.kills + 1, self.opened()
        for record in self.journal:
            self.count_in(record)
        self.meter.add_lost(lost, ROLES)


COSTS = st.floats(0, 50) | st.sampled_from([0.0, 0.001, 1.0, 10.0])
STEPS = st.lists(
    st.tuples(st.sampled_from(["begin", "begin", "begin", "end", "cut", "kill"]), st.sampled_from([*ROLES]), COSTS,
              st.integers(0, 63)),
    max_size=120,
)  # fmt: skip


@given(STEPS, st.floats(0.01, 30), st.integers(1, 64))
def test_a_cap_is_exceeded_by_at_most_what_was_stated(steps, cap, concurrency):
    till = Till(cap, concurrency)
    for what, role, usd, place in steps:
        keys = list(till.in_flight)
        try:
            if what == "begin":
                till.begin(role, usd)
            elif keys and what != "kill":
                till.end(keys[place % len(keys)], "answered" if what == "end" else "broken_stream")
            elif what == "kill":
                for key in keys:
                    till.charge(till.in_flight[key][1])
                till.kill()
        except BudgetReached:
            continue
    for key in list(till.in_flight):
        till.end(key, "answered")
    stated = concurrency * till.dearest
    assert till.spent <= cap + stated * (1 + till.kills) + 1e-6


@given(STEPS, st.floats(0.01, 5), st.integers(1, 64))
def test_a_cap_is_kept_where_max_tokens_and_the_price_bound_every_call(steps, cap, concurrency):
    till = Till(cap, concurrency)
    for what, _, usd, place in steps:
        keys = list(till.in_flight)
        try:
            if what == "begin":
                till.begin("judge", usd)
            elif keys:
                till.end(keys[place % len(keys)], "answered" if what == "end" else "broken_stream")
        except BudgetReached:
            continue
        assert till.spent <= cap + 1e-6
    for key in list(till.in_flight):
        till.end(key, "answered")
    assert till.spent <= cap + 1e-6


@given(st.lists(COSTS, min_size=1, max_size=60), st.integers(1, 64))
def test_few_calls_that_may_be_dearer_than_any_before_are_in_flight(costs, concurrency):
    till = Till(1e9, concurrency)
    for answered, usd in enumerate(costs):
        for _ in range(concurrency):
            till.begin("model", usd)
        assert 1 <= len(till.in_flight) <= most_unlimited(answered, concurrency) <= max(3, answered // 4)
        till.end(next(iter(till.in_flight)), "answered")


def test_a_limit_that_is_not_kept_counts_as_none():
    till = Till(1000.0, 64)
    for usd in (0.05, 5.0):
        till.begin("judge", usd)
    till.in_flight = dict.fromkeys(till.in_flight, ("judge", 5.0))
    for key in list(till.in_flight):
        till.end(key, "answered")
    for _ in range(64):
        till.begin("judge", 0.01)
    assert len(till.in_flight) == 3


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (LIMITED, "the cap is kept as long as limited keeps to max_tokens and its price"),
        (ROLES["model"], "the cap can be exceeded by up to 8 replies of unlimited, as no max_tokens limits them"),
        (ROLES["user"], "the cap can be exceeded by what up to 8 replies of unpriced cost, as its price is unknown"),
        (ModelFacts("own", price=Price(0.0, 0.0)), ""),
        (ModelFacts("sim/x", simulated=True), ""),
        (
            ModelFacts("listed", price=Price(1.0, 30.0), longest_reply=100_000),
            "the cap can be exceeded by up to 8 replies of listed (up to $3.00 each), as no max_tokens limits them",
        ),
        (
            ModelFacts("omits", price=Price(1.0, 1.0), params={"max_tokens": 9, "omit": ["max_tokens"]}),
            "the cap can be exceeded by up to 8 replies of omits, as no max_tokens limits them",
        ),
    ],
)
def test_what_can_be_overspent_is_said(facts, words):
    assert overspend_words([facts], 8) == words


def test_several_models_keep_to_their_prices():
    both = [LIMITED, msgspec.structs.replace(LIMITED, name="other")]
    assert (
        overspend_words(both, 8) == "the cap is kept as long as limited and other keep to max_tokens and their prices"
    )


def test_a_kill_loses_no_more_calls_than_could_be_in_flight():
    """Conversations that wait for their first replies have cost nothing."""
    roles = {"model": ROLES["model"], "judge": LIMITED}
    usual = {role: worst_case(ChatRequest([]), facts).usd for role, facts in roles.items()}
    meter = BudgetMeter(Budget(cost_usd=1.0), 32)
    meter.add_lost(10, roles)
    assert meter.cut_usd == pytest.approx(3 * usual["model"] + 7 * usual["judge"])


def test_costs_of_zero_that_the_provider_reports_prove_nothing():
    till = Till(2.0, 64)
    for _ in range(40):
        till.begin("user", 0.0)
        till.end(next(iter(till.in_flight)), "answered")
    for _ in range(64):
        till.begin("user", 1.0)
    assert len(till.in_flight) == most_unlimited(40, 64) == 10
