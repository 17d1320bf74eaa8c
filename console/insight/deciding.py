"""The branches of a case, and the step that decided it: the chance of passing from each step. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from console.core.experiment import Experiment
from console.core.statistics.intervals import rate_interval, wilson
from console.core.statistics.sample import Counts, sample_of_counts
from console.insight.as_sent import Point, called_words
from console.insight.number_format import bounds
from console.insight.report import Bar, Row, Section

HERE = "◀ here"
"""Mark on the step that decided a conversation."""
_LONGEST_BALANCED = 200
"""Number of replies up to which splits are balanced by cost; longer conversations are halved."""
_PRICE_OF_A_POINT = 0.25
"""Cost added to each continuation, as a share of the whole conversation's replies, to keep the number of points low."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A run that continues one conversation of another."""

    run: str
    """Name of the run."""
    model: str
    cases: tuple[str, ...]
    experiment: Experiment
    passed: int
    graded: int
    is_live: bool = False
    level: int = 0
    """0 for a branch of the recorded run, 1 for a branch of such a branch, and so on."""

    def words(self, recorded_model: str) -> str:
        """Describe the change and its place. Untrusted text."""
        other = f"{self.model}, " if self.model != recorded_model else ""
        return other + self.experiment.words


@dataclass(frozen=True, slots=True)
class Chance:
    """Number of passed continuations of a conversation from one point."""

    passed: int
    graded: int
    run: str = ""
    """Name of the branch; empty for the recorded end."""

    @property
    def share(self) -> float:
        interval = rate_interval(sample_of_counts(Counts({1: {0: self.graded - self.passed, 1: self.passed}}, {}, {})))
        return interval.value if interval is not None else 0.0


@dataclass(frozen=True, slots=True)
class Fall:
    """The step with the largest fall of the chance, between two neighboring points."""

    replies: int
    """Number of replies before the deciding one."""
    before: Chance
    after: Chance


Curve = Mapping[int, Chance]
"""Chances by number of repeated replies."""


def curve_of(branches: Iterable[Branch], case: str, rollout: int, model: str) -> dict[int, Chance]:
    """Return the chances of a rollout with a model, from the unchanged branches of its case, newest first.

    Branches from the same point are independent continuations, so their counts are added.
    """
    curve: dict[int, Chance] = {}
    for branch in branches:
        beginning = branch.experiment.beginnings.get(case)
        is_unchanged = branch.experiment.arms == ((),) and branch.model == model and not branch.level
        if beginning is None or beginning.replies is None or beginning.rollout != rollout or not is_unchanged:
            continue
        if branch.graded:
            newer = curve.get(beginning.replies, Chance(0, 0, branch.run))
            curve[beginning.replies] = Chance(newer.passed + branch.passed, newer.graded + branch.graded, newer.run)
    return curve


def continued(curve: Curve, times: int) -> Curve:
    """Return the points from which the conversation was continued at least this many times."""
    return {point: chance for point, chance in curve.items() if chance.graded >= times}


def next_point(curve: Curve, replies: int) -> int | None:
    """Return the next point to continue from in a failed conversation of N replies; None if the search is complete."""
    if 0 not in curve:
        return 0
    if not curve[0].passed:
        return None
    low, high = _bracket(curve, replies)
    return _split(low, high, replies) if high - low > 1 else None


def searches_left(curve: Curve, replies: int) -> list[list[int]]:
    """Return the points that still have to be played, for each step that may be the deciding one."""
    if 0 not in curve:
        return [[0, *points] for points in _searches(0, replies, replies)]
    return _searches(*_bracket(curve, replies), replies)


def _searches(low: int, high: int, replies: int) -> list[list[int]]:
    """Return the points of a search between two points, for each step between them."""
    if high - low == 1:
        return [[]]
    split = _split(low, high, replies)
    return [[split, *points] for side in ((low, split), (split, high)) for points in _searches(*side, replies)]


def fall_of(curve: Curve, replies: int) -> Fall | None:
    """Return the deciding step, or None if it is not found yet or the conversation never passed."""
    if next_point(curve, replies) is not None or 0 not in curve or not curve[0].passed:
        return None
    low, high = _bracket(curve, replies)
    return Fall(low, curve[low], _at(curve, high, replies))


def _at(curve: Curve, place: int, replies: int) -> Chance:
    """Return the chance at a point; after the last reply it is 0, since the conversation failed."""
    return Chance(0, curve[0].graded) if place == replies else curve[place]


def _bracket(curve: Curve, replies: int) -> tuple[int, int]:
    """Return the points between which the chance falls, narrowed to the half with the larger fall as far as known."""
    low, high = 0, replies
    while inside := [point for point in curve if low < point < high]:
        split = _split(low, high, replies)
        middle = min(inside, key=lambda point: abs(point - split))
        is_before = curve[middle].share > (_at(curve, low, replies).share + _at(curve, high, replies).share) / 2
        low, high = (middle, high) if is_before else (low, middle)
    return low, high


def _split(low: int, high: int, replies: int) -> int:
    """Return the point that divides the steps between two points."""
    if replies > _LONGEST_BALANCED:
        return (low + high) // 2
    return _splits(replies)[high - low][low]


@lru_cache(maxsize=8)
def _splits(replies: int) -> list[list[int]]:
    """Return the splits of all spans, by width and first point, that keep the most expensive search cheapest.

    Continuations from early points take more replies, so a search among them has to end after fewer points. With
    halves, the most expensive search of 200 replies takes 4 times as many as the cheapest; with these, 1.5 times.
    """
    prices = [replies * (1 + _PRICE_OF_A_POINT) - point for point in range(replies)]
    most, splits = [[0.0] * replies, [0.0] * replies], [[0] * replies, list(range(replies))]
    for width in range(2, replies + 1):
        costs, places = list[float](), list[int]()
        for low in range(replies - width + 1):

            def cost(split: int, low: int = low, width: int = width) -> float:
                return prices[split] + max(most[split - low][low], most[low + width - split][split])

            place = max(splits[width - 1][low], low + 1)  # a wider span is split at the same point or later
            while place + 1 < low + width and cost(place + 1) <= cost(place):
                place += 1
            costs.append(cost(place))
            places.append(place)
        most.append(costs)
        splits.append(places)
    return splits


def decided_words(points: Sequence[Point], curve: Curve) -> str:
    """Return a sentence about the step that decided a conversation. Untrusted text."""
    if 0 not in curve:
        return "nothing was played yet"
    start = curve[0]
    if len(points) == 1:
        did = called_words(points[0].exchange.asked.reply)
        return f"asked again, it passes in {start.passed} of {start.graded}: it {did}"
    if not start.passed:
        return f"from the start it passes in 0 of {start.graded}: no single step decided it"
    fall = fall_of(curve, len(points))
    if fall is None:
        return "the step is not found yet"
    step = points[fall.replies]
    after = f"after it in {fall.after.passed} of {fall.after.graded}"
    if fall.replies + 1 == len(points):
        after = "and after it the conversation is over"
    before = f"up to step {step.beginning.place} it passes in {fall.before.passed} of {fall.before.graded}"
    return f"{before}, {after}: it {called_words(step.exchange.asked.reply)}"


def curve_section(points: Sequence[Point], curve: Curve) -> Section:
    """Return the curve as a table of steps, chances with intervals, and replies at each step; the fall is marked."""
    fall = fall_of(curve, len(points))
    rows: list[Row] = []
    for replies, chance in sorted(curve.items()):
        low, high = wilson(chance.passed, chance.graded)
        mark = HERE if fall is not None and fall.replies == replies else ""
        cells = (points[replies].beginning.place, f"{chance.passed} of {chance.graded}",
                 bounds(low, high), called_words(points[replies].exchange.asked.reply), mark)  # fmt: skip
        rows.append(Row(cells, bar=Bar(chance.share, low, high)))
    headings = ("from step", "right", "95 %", "the model's action", "")
    return Section("Going on from each step", headings, tuple(rows), lines=(decided_words(points, curve),))
