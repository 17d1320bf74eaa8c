"""One case in two runs: how each played it, and what its suite says of expected and actual. Pure."""

from dataclasses import dataclass

from console.core.comparison import Comparison
from console.insight.comparison import RolloutPair
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout


@dataclass(frozen=True, slots=True)
class CaseInRun:
    """One case in one run."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None
    fault: str = ""
    """Why the suite could not compare it. Foreign text."""


@dataclass(frozen=True, slots=True)
class CaseInBoth:
    """One case in both runs."""

    pair: RolloutPair
    a: CaseInRun
    b: CaseInRun
