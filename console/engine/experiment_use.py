"""Expected calls, tokens and cost of an experiment, estimated from recorded conversations."""

import json
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise

from console.core.case import Slot
from console.core.chat import Usage
from console.core.experiment import REPLY, Applied, Arm, Beginning, Request
from console.core.price import dollars, estimated_cost
from console.core.record import AnyRecord, Asked, Embedded, Started
from console.core.request import Thread, asked_tier
from console.core.run import Manifest
from console.core.statistics.lengths import Length, RepliesLeft, replies_left
from console.engine.earlier_run import EarlierRun, open_recorded, open_run
from console.engine.earlier_runs import completed_runs
from console.engine.plan import PreparedRun
from console.store.runs import RunFolder
from console.suites.guard import SuiteError

_MOST_OTHERS, _FEWEST_OTHERS = 40, 8
"""Maximum and minimum number of recordings of other cases in an estimate; a small category is filled up from others."""
_MOST_READ = 200
"""Maximum number of recordings read to find those of a category."""
_CHARACTERS_A_TOKEN = 4
_EXACT = 0.05
"""Number of calls below which these calls are ignored."""


@dataclass(frozen=True, slots=True)
class Use:
    """Calls, tokens and cost."""

    calls: float = 0.0
    tokens: float = 0.0
    cost_usd: float | None = 0.0
    """Cost in USD; None if a price is unknown."""
    is_free: bool = True
    """True if every model is simulated."""

    def __add__(self, other: "Use") -> "Use":
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Use(self.calls + other.calls, self.tokens + other.tokens, cost, self.is_free and other.is_free)

    def times(self, factor: float) -> "Use":
        cost = None if self.cost_usd is None else self.cost_usd * factor
        return Use(self.calls * factor, self.tokens * factor, cost, self.is_free)

    @property
    def words(self) -> str:
        calls = round(self.calls)
        return f"{calls:,} call{'' if calls == 1 else 's'}, {self.words_of_tokens}"

    @property
    def words_of_tokens(self) -> str:
        """Tokens and cost as text."""
        price = "simulated" if self.is_free else "price unknown" if self.cost_usd is None else dollars(self.cost_usd)
        return f"{self.tokens:,.0f} tokens, {price}"


@dataclass(frozen=True, slots=True)
class ExpectedUse:
    """Expected use of continuations, with a 95 % prediction interval."""

    likely: Use
    least: Use
    most: Use
    basis: str
    """The basis of the estimate, as text."""

    @property
    def lines(self) -> list[str]:
        low, high = math.floor(self.least.calls + _EXACT), math.ceil(self.most.calls - _EXACT)
        span = f"95 %: {low:,} to {high:,} calls, up to {self.most.words_of_tokens}"
        return [f"about {self.likely.words}", *([span] if low < high else []), self.basis]


@dataclass(frozen=True, slots=True)
class SearchUse:
    """Expected use of a search for the deciding step of a conversation."""

    likely: Use
    """Geometric mean of the cheapest and the most expensive search that finds the step."""
    most: Use
    start: Use
    """Cost of the continuations from the start, which are the whole search if none of them passes."""
    basis: str = ""
    """The basis of the estimate, as text."""

    @property
    def lines(self) -> list[str]:
        alone = [f"{self.start.words} if none passes"] if self.start.calls else []
        return [f"about {self.likely.words}", f"at most {self.most.words}", *alone, self.basis]


def branch_use(prepared: PreparedRun) -> ExpectedUse:
    """Estimate the use of continuations of one conversation."""
    (case_id,) = prepared.manifest.selection.ids
    experiment = prepared.manifest.experiment
    assert experiment is not None
    beginning = experiment.beginnings.get(case_id, Beginning(0))
    continued = _Recordings(prepared).continued(case_id, beginning, experiment.arms[0])
    return continued.expected(prepared.manifest.rollouts)


def expected_use(prepared: PreparedRun) -> Use:
    """Estimate the use of an experiment on many cases."""
    manifest, experiment = prepared.manifest, prepared.manifest.experiment
    assert experiment is not None
    recordings, total = _Recordings(prepared), _nothing(manifest)
    for case in prepared.cases:
        beginning = experiment.beginnings.get(case.id, Beginning(0))
        if beginning.replies is not None and recordings.has((case.id, beginning.rollout)):
            for arm in experiment.arms:
                likely = recordings.continued(case.id, beginning, arm).likely
                total += likely.times(manifest.rollouts / len(experiment.arms))
    return total


def search_use(prepared: PreparedRun, beginnings: Sequence[Beginning], searches: Sequence[Sequence[int]]) -> SearchUse:
    """Estimate the use of a search for the deciding step of a conversation.

    Args:
        prepared: a continuation of the conversation.
        beginnings: one for each reply of the conversation.
        searches: the points to continue from, for each step that may be the deciding one.
    """
    manifest, recordings = prepared.manifest, _Recordings(prepared)
    (case_id,) = manifest.selection.ids
    points = dict.fromkeys(replies for search in searches for replies in search)
    by_point = {
        replies: recordings.continued(case_id, beginnings[replies]).expected(manifest.rollouts) for replies in points
    }
    nothing = _nothing(manifest)
    uses = [sum((by_point[replies].likely for replies in search), nothing) for search in searches]
    highest = [sum((by_point[replies].most for replies in search), nothing) for search in searches]
    least, largest = (end(uses, key=_price_and_calls) for end in (min, max))
    cost = None if least.cost_usd is None or largest.cost_usd is None else math.sqrt(least.cost_usd * largest.cost_usd)
    likely = Use(
        math.sqrt(least.calls * largest.calls), math.sqrt(least.tokens * largest.tokens), cost, nothing.is_free
    )
    start = by_point[0].likely if 0 in by_point else nothing
    basis = next((use.basis for use in by_point.values()), "")
    return SearchUse(likely, max(highest, key=_price_and_calls), start, basis)


def _price_and_calls(use: Use) -> tuple[float, float]:
    return use.cost_usd or 0.0, use.calls


def _nothing(manifest: Manifest) -> Use:
    return Use(is_free=all(model.simulated for model in (manifest.model, *manifest.roles.values())))


@dataclass(frozen=True)
class _Recording:
    category: str
    length: Length
    places: list[tuple[int, int]]
    """Turn and step of each reply of the model, as indexes."""
    replies: list[Use | None]
    """None for a reply that was not paid for."""
    calls: list[bool]
    """True for a reply that calls tools."""
    between: list[Use]
    """Calls of other roles between a reply and the next."""
    end: Use
    """Calls of other roles after the last reply."""

    @property
    def growth(self) -> Use | None:
        """Mean increase from one reply to the next; None with fewer than two paid replies."""
        paid = [(number, use) for number, use in enumerate(self.replies) if use is not None]
        if len(paid) < 2:
            return None
        (first, low), (last, high) = paid[0], paid[-1]
        return (high + low.times(-1)).times(1 / (last - first))


@dataclass(frozen=True, slots=True)
class _Continued:
    """Expected continuations of a recorded conversation from a point."""

    left: RepliesLeft
    sums: list[Use]
    """Use of the first N replies starting at the point."""
    between: Use
    """Calls of other roles between two replies; those after the last reply are in the next field."""
    end: Use
    written: Use
    """Use of a reply written by the reader, which needs no call."""
    basis: str

    @property
    def likely(self) -> Use:
        """Expected use of one continuation."""
        parts = [self._of(number).times(chance) for number, chance in self.left.numbers.items()]
        return sum(parts[1:], parts[0])

    def expected(self, times: int) -> ExpectedUse:
        """Return the expected use of this many continuations."""
        low, high = self.left.span(times)
        if self.written.calls:  # contrary to expectation, it may end its turn
            low = min(low, *self.left.numbers)
        low, high = (self._of(number).times(times) for number in (low, high))
        return ExpectedUse(self.likely.times(times), low, high, self.basis)

    def _of(self, replies: float) -> Use:
        whole = min(int(replies), len(self.sums) - 2)
        part = (self.sums[whole + 1] + self.sums[whole].times(-1)).times(replies - whole)
        return self.sums[whole] + part + self.between.times(replies - 1) + self.end + self.written.times(-1)


class _Recordings:
    """Recorded conversations behind the estimates of an experiment."""

    def __init__(self, prepared: PreparedRun) -> None:
        self._prepared, self._manifest = prepared, prepared.manifest
        self._recorded = prepared.earlier or open_run(prepared.manifest, prepared.runs_root)
        further, self._others_by = _further_runs(prepared)
        self._runs = [self._recorded, *further]
        self._nothing = _nothing(prepared.manifest)
        self._read = dict[tuple[int, Slot], _Recording]()
        self._by_case = defaultdict[str, list[tuple[int, Slot]]](list)
        for number, run in enumerate(self._runs):
            for slot, finished in run.finished.items():
                if finished.verdict.outcome.is_graded:
                    self._by_case[slot[0]].append((number, slot))
        self._order = list(self._runs[-1].finished)
        """Recordings of other cases to draw from."""
        random.Random(0).shuffle(self._order)  # noqa: S311 - not a secret

    def has(self, slot: Slot) -> bool:
        return slot in self._recorded.finished

    def continued(self, case_id: str, beginning: Beginning, arm: Arm = ()) -> _Continued:
        """Return the expected continuations of a conversation from a point."""
        slot, point = (case_id, beginning.rollout), beginning.replies or 0
        own = self._recording(0, slot)
        same, others = self._same(slot), self._others(case_id, own.category)
        reply = next((change.after for change in arm if change.what == REPLY), None)
        left = replies_left(
            own.length,
            [recording.length for recording in same],
            [recording.length for recording in others],
            *own.places[point],
            is_turn_over=reply is not None and not reply["tool_calls"] and own.calls[point],
        )
        alike = [own, *same]
        prices = self._prices(alike, others, point + math.ceil(max(*left.numbers, left.span(1)[1])) + 1)
        added = self._tokens(self._added(slot, point, arm) if arm else 0)
        lengthened = [price + added if price.tokens + added.tokens > 0 else price for price in prices[point:]]
        sums = [*accumulate(lengthened, initial=self._nothing)]
        between = [use for recording in alike for use in recording.between]
        between = between or [use for recording in others for use in recording.between] or [own.end]
        written = lengthened[0] if reply is not None else self._nothing
        basis = f"based on {len(alike)} recording{'' if len(alike) == 1 else 's'} of the case"
        basis += f" and {len(others)} of other cases{self._others_by}" if others else ""
        return _Continued(left, sums, self._mean(between), own.end, written, basis)

    def _same(self, slot: Slot) -> list[_Recording]:
        """Return the other recordings of a case."""
        return [self._recording(*place) for place in self._by_case[slot[0]] if place != (0, slot)]

    def _others(self, case_id: str, category: str) -> list[_Recording]:
        """Return recordings of other cases, restricted to the same category if it has enough."""
        number, run = len(self._runs) - 1, self._runs[-1]
        of_category, rest = list[_Recording](), list[_Recording]()
        for slot in self._order[:_MOST_READ]:
            if slot[0] == case_id or not run.finished[slot].verdict.outcome.is_graded:
                continue
            recording = self._recording(number, slot)
            (of_category if recording.category == category else rest).append(recording)
            if len(of_category) == _MOST_OTHERS:
                break
        return of_category + rest[: max(_FEWEST_OTHERS - len(of_category), 0)]

    def _prices(self, alike: Sequence[_Recording], others: Sequence[_Recording], count: int) -> list[Use]:
        """Return the use of the first replies of a conversation, extrapolated beyond those that were recorded."""
        growths = [recording.growth for recording in (*alike, *others)]
        growth = next((growth for growth in growths if growth is not None), self._nothing)
        unknown = Use(1, cost_usd=0.0 if self._nothing.is_free else None, is_free=self._nothing.is_free)
        prices, latest = list[Use](), next((use for each in (*alike, *others) for use in each.replies if use), unknown)
        for number in range(count):
            recorded = [each.replies[number] for each in alike if number < len(each.replies)]
            latest = next((use for use in recorded if use is not None), latest + growth if number else latest)
            prices.append(latest)
        return prices

    def _mean(self, uses: Sequence[Use]) -> Use:
        return sum(uses, self._nothing).times(1 / len(uses))

    def _recording(self, number: int, slot: Slot) -> _Recording:
        if (number, slot) not in self._read:
            self._read[number, slot] = self._recording_of(self._runs[number].records(slot))
        return self._read[number, slot]

    def _recording_of(self, records: Sequence[AnyRecord]) -> _Recording:
        case = next((record.case for record in records if isinstance(record, Started)), None)
        effects = [record for record in records if isinstance(record, Asked | Embedded)]
        effects.sort(key=lambda effect: effect.n)
        replies = [effect for effect in effects if isinstance(effect, Asked) and effect.role == "model"]
        turns = {turn: index for index, turn in enumerate(dict.fromkeys(reply.turn for reply in replies))}
        steps, places = [0] * len(turns), list[tuple[int, int]]()
        for reply in replies:
            turn = turns[reply.turn]
            places.append((turn, steps[turn]))
            steps[turn] += 1
        between = [
            sum((self._price(effect) for effect in effects if number < effect.n < following), self._nothing)
            for number, following in pairwise([*(reply.n for reply in replies), math.inf])
        ]
        category, case_id, size = "", "", 0.0
        if case is not None:
            category, case_id = case.category, case.id
            with suppress(SuiteError):  # another version of the suite may have recorded other data
                estimate = self._prepared.suite.estimate(case, self._manifest.setting)
                size = estimate.calls if estimate is not None else 0.0
        return _Recording(  # a conversation without an answer counts as one with a single reply
            category,
            Length(case_id, tuple(steps) or (1,), size or 1.0),
            places or [(0, 0)],
            [None if reply.reply.usage is None else self._price(reply) for reply in replies] or [None],
            [bool(reply.reply.tool_calls) for reply in replies] or [False],
            between[:-1],
            between[-1] if between else self._nothing,
        )

    def _added(self, slot: Slot, point: int, arm: Arm) -> float:
        """Return the number of tokens that changes add to the requests that follow a point."""
        thread, requests = Thread(), list[tuple[Asked, Request]]()
        for record in self._recorded.records(slot):
            if isinstance(record, Asked) and record.role == "model":
                asked = thread.expand(record)
                requests.append((record, Request(asked.messages, asked.tools, record.params)))
        requests.sort(key=lambda recorded: recorded[0].n)
        if len(requests) <= point:
            return 0.0
        record, request = requests[point]
        before, after = (len(json.dumps(each.messages + each.tools)) for each in (request, Applied(arm).to(request)))
        usage = record.reply.usage
        return (after - before) * (usage.input / before if usage is not None else 1 / _CHARACTERS_A_TOKEN)

    def _tokens(self, sent: float) -> Use:
        """Return the use of sending this many tokens more, or fewer."""
        model = self._manifest.model
        rate = 0.0 if model.simulated else model.price.input
        return Use(0, sent, None if rate is None else sent * rate / 1e6, self._nothing.is_free)

    def _price(self, effect: Asked | Embedded) -> Use:
        """Return the use of repeating calls."""
        model = self._manifest.model if effect.role == "model" else self._manifest.roles.get(effect.role)
        reply = effect.reply if isinstance(effect, Asked) else None
        usage = Usage(effect.tokens or 0) if isinstance(effect, Embedded) else effect.reply.usage or Usage()
        tokens = usage.input + usage.output
        if model is None or model.simulated:
            return Use(1, tokens, 0.0, self._nothing.is_free)
        tier = (reply.tier if reply else "") or asked_tier(model.params)
        return Use(1, tokens, estimated_cost(model.price, usage, tier), self._nothing.is_free)


def _further_runs(prepared: PreparedRun) -> tuple[list[EarlierRun], str]:
    """Return the runs that the recorded run continues, and, if it continues any, one played by another model.

    The second value is True if the last of them, the source of recordings of other cases, is that model's.
    """
    runs, folder = list[EarlierRun](), RunFolder(prepared.runs_root / prepared.manifest.parent)
    names, model = {folder.name}, prepared.manifest.model.name
    while (parent := folder.manifest().parent) not in ("", *names):
        names.add(parent)
        folder = RunFolder(prepared.runs_root / parent)
        if not folder.has_journal:
            return runs, ""  # it was deleted
        runs.append(open_recorded(folder))
    if model != folder.manifest().model.name:
        for run, summary in completed_runs(prepared.runs_root, prepared.manifest.suite):
            if summary.model == model and not summary.parent and summary.tally.graded >= _FEWEST_OTHERS:
                return [*runs, open_recorded(run)], f" by {model}"
    return runs, ""
