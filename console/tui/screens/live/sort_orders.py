"""What the list of Live shows, and in which order. Pure."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from console.core.outcome import Outcome
from console.insight.rollout import Rollout

_SEVERITY = {Outcome.BROKEN: 0, Outcome.UNDECIDED: 1, Outcome.FAILED: 2, None: 3, Outcome.PASSED: 4, Outcome.NOT_RUN: 5}


class Order(StrEnum):
    """What the list shows, and how it is sorted."""

    RUNNING = "running now"
    RUN = "all, in the order of the run"
    CLOSEST = "closest to stopping"
    WORST = "worst first"


def _distance_to_end(rollout: Rollout) -> tuple[bool, float]:
    """Return how near a loop is to its nearest threshold, ended ones last."""
    gaps = [
        (track.last - track.threshold) / (100.0 if track.threshold > 1 else 1.0)
        for track in rollout.tracks.values()
        if track.last is not None and track.threshold is not None
    ]
    return not rollout.is_running, min(gaps, default=1.0)


SORT: dict[Order, Callable[[Rollout], Any]] = {
    Order.RUN: lambda rollout: rollout.order,
    Order.WORST: lambda rollout: (_SEVERITY[rollout.outcome], rollout.order),
    Order.CLOSEST: _distance_to_end,
}
"""How to sort by each order; what runs keeps its place in lanes instead."""
