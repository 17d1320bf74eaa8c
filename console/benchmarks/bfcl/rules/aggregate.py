"""The official aggregation of category accuracies in BFCL v4. Pure.

Live is weighted by entries; all other means are unweighted; relevance is not included. In the official tables a missing
category counts as 0; our own reports give no number then.
Overall = (10 Non-Live + 10 Live + 10 Irrelevance + 30 Multi-Turn + 40 Agentic) / 100.
"""

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from console.benchmarks.bfcl.rules.categories import LIVE, MEMORY, MULTI_TURN, NON_LIVE, WEB_SEARCH
from console.core.statistics.intervals import Interval, weighted_interval
from console.suites.leaderboard import INCOMPLETE

_SIMPLE, _IRRELEVANCE = NON_LIVE[:3], ("irrelevance", "live_irrelevance")
PARTS: dict[str, tuple[str, ...]] = {
    "overall": (*NON_LIVE[:6], *LIVE[:4], *_IRRELEVANCE, *MULTI_TURN, *WEB_SEARCH, *MEMORY),
    "non_live": NON_LIVE[:6],
    "live": LIVE[:4],
    "irrelevance": _IRRELEVANCE,
    "multi_turn": MULTI_TURN,
    "agentic": (*WEB_SEARCH, *MEMORY),
    "simple": _SIMPLE,
    "web_search": WEB_SEARCH,
    "memory": MEMORY,
    "relevance": ("live_relevance",),
}
"""Categories by aggregate."""
_SHARES = (10, 10, 10, 30, 40)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """An accuracy (0 to 1) with its number of entries."""

    value: float
    entries: int
    is_known: bool = True
    """False if a part is missing and therefore counted as 0."""
    touched: bool = True
    """False if all parts are missing."""

    @property
    def shown(self) -> "float | str":
        """The value in official tables: N/A if a part is missing."""
        return self.value if self.is_known else "N/A"


def mean(parts: Sequence[Accuracy]) -> Accuracy:
    """Return the unweighted mean."""
    value = sum(part.value for part in parts) / len(parts)
    return _joined(value, sum(part.entries for part in parts), parts)


def weighted(parts: Sequence[Accuracy]) -> Accuracy:
    """Return the mean weighted by entries."""
    entries = sum(part.entries for part in parts)
    value = sum(part.value * part.entries for part in parts) / entries if entries else 0.0
    return _joined(value, entries, parts)


def _joined(value: float, entries: int, parts: Sequence[Accuracy]) -> Accuracy:
    return Accuracy(value, entries, all(part.is_known for part in parts), any(part.touched for part in parts))


class Standing:
    """All aggregated accuracies of one model."""

    def __init__(self, of: Callable[[str], Accuracy]) -> None:
        """Compute all aggregates; `of` returns the accuracy of a category."""
        self.of = of
        self.simple = mean([of("simple_python"), of("simple_java"), of("simple_javascript")])
        self.non_live = mean([self.simple, of("multiple"), of("parallel"), of("parallel_multiple")])
        self.live = weighted([of(name) for name in LIVE[:4]])
        self.irrelevance = mean([of("irrelevance"), of("live_irrelevance")])
        self.relevance = of("live_relevance")
        self.multi_turn = mean([of(name) for name in MULTI_TURN])
        self.web_search = mean([of(name) for name in WEB_SEARCH])
        self.memory = mean([of(name) for name in MEMORY])
        self.agentic = mean([self.web_search, self.memory])
        parts = (self.non_live, self.live, self.irrelevance, self.multi_turn, self.agentic)
        total = sum(part.value * (share / sum(_SHARES)) for part, share in zip(parts, _SHARES, strict=True))
        self.overall = _joined(total, sum(part.entries for part in parts), parts)

    @property
    def sums(self) -> dict[str, Accuracy]:
        """All aggregates by name, Overall first."""
        return {"overall": self.overall, **self.groups}

    @property
    def groups(self) -> dict[str, Accuracy]:
        """All aggregates except Overall by name, its parts first."""
        return {
            "non_live": self.non_live,
            "live": self.live,
            "irrelevance": self.irrelevance,
            "multi_turn": self.multi_turn,
            "agentic": self.agentic,
            "simple": self.simple,
            "web_search": self.web_search,
            "memory": self.memory,
            "relevance": self.relevance,
        }


def gaps(sum_name: str, whole: Collection[str]) -> str:
    """Return a note on an aggregate with incomplete categories, or an empty string.

    Args:
        sum_name: a key of `PARTS`.
        whole: the complete categories.
    """
    parts = PARTS[sum_name]
    whole_parts = sum(part in whole for part in parts)
    return "" if whole_parts == len(parts) else f"{INCOMPLETE}: {whole_parts} of {len(parts)} categories complete"


def missing(sum_name: str, played: Collection[str]) -> str:
    """Return how many of an aggregate's categories have results, if some have none, else an empty string."""
    parts = PARTS[sum_name]
    count = sum(part in played for part in parts)
    return "" if count == len(parts) else f"{count} of {len(parts)} categories"


def interval(sum_name: str, of: Callable[[str], Accuracy], parts: Mapping[str, Interval]) -> Interval:
    """Return an aggregate with its 95 % interval, computed from those of its independent categories.

    Args:
        sum_name: a key of `PARTS`.
        of: returns the accuracy of a category.
        parts: intervals by category.
    """
    value = Standing(of).sums[sum_name].value
    return weighted_interval(value, [(_weight(sum_name, name, of), parts[name]) for name in PARTS[sum_name]])


def _weight(sum_name: str, category: str, of: Callable[[str], Accuracy]) -> float:
    """Return the weight of a category; all aggregates are linear in the accuracies."""
    return Standing(lambda name: Accuracy(float(name == category), of(name).entries)).sums[sum_name].value


def spread(accuracies: Mapping[str, float]) -> dict[str, float]:
    """Return the format-sensitivity statistics over the accuracies of all configurations.

    `accuracy_max_delta` and `accuracy_std` are in percent, `accuracy_variance` in squared percent, rounded to two
    places; 0 for a single configuration.
    """
    values = list(accuracies.values())
    several = len(values) > 1
    return {
        "accuracy_max_delta": round((max(values) - min(values)) * 100, 2) if several else 0.0,
        "accuracy_variance": round(statistics.variance(values) * 100**2, 2) if several else 0.0,
        "accuracy_std": round(statistics.stdev(values) * 100, 2) if several else 0.0,
    }


def latency_figures(latencies: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the mean, standard deviation and 95th percentile in seconds, to two places; None if there are none."""
    if not latencies:
        return None
    deviation = statistics.stdev(latencies) if len(latencies) > 1 else 0.0
    return round(statistics.mean(latencies), 2), round(deviation, 2), _rounded(_percentile_95(sorted(latencies)))


def _percentile_95(ordered: Sequence[float]) -> float:
    """Return the 95th percentile, interpolated like numpy from the nearer neighbor for identical rounding."""
    position = (len(ordered) - 1) * 0.95
    index = math.floor(position)
    low, high, share = ordered[index], ordered[min(index + 1, len(ordered) - 1)], position - index
    return high - (high - low) * (1 - share) if share >= 0.5 else low + (high - low) * share


def _rounded(value: float) -> float:
    """Round to two places like numpy: 8.635 becomes 8.64, although the float is slightly less."""
    return round(value * 100) / 100
