"""Orders of a list of rollouts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.core.outcome import Outcome
from console.insight.rollout import Rollout

_SEVERITY = {Outcome.BROKEN: 0, Outcome.UNDECIDED: 1, Outcome.FAILED: 2, None: 3, Outcome.PASSED: 4, Outcome.NOT_RUN: 5}


@dataclass(frozen=True, slots=True)
class SortOrder:
    """One order of a list of rollouts."""

    name: str
    key: Callable[[Rollout], Any]
    goes_to_first: bool = False
    """True if choosing it moves the cursor to the first row."""


RUN_ORDER = SortOrder("all, run order", lambda rollout: rollout.order)
WORST_FIRST = SortOrder("worst first", lambda rollout: (_SEVERITY[rollout.outcome], rollout.order))
