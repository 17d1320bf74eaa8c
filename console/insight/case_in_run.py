"""One case in one run or two, with its comparison of expected and actual."""

from dataclasses import dataclass
from typing import NamedTuple

from console.core.comparison import Comparison
from console.insight.conversation import Conversation, shared_passages
from console.insight.rollout import Rollout


@dataclass(frozen=True, slots=True)
class CaseInRun:
    """One case in one run."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None
    """None if there is nothing to compare or the suite is missing."""
    simulated_note: str = ""
    """Which part of the run is simulated, as in the manifest."""

    @property
    def fault(self) -> str:
        """Error in the suite's comparison. Untrusted text."""
        return self.comparison.fault if self.comparison is not None else ""


class CaseInBoth(NamedTuple):
    """One case in two runs."""

    a: CaseInRun
    b: CaseInRun

    @property
    def shared(self) -> int:
        """Number of leading passages that both conversations share."""
        return shared_passages(self.a.conversation, self.b.conversation)

    @property
    def before_difference(self) -> int:
        """Index of the first passage to show in both conversations, just before they diverge."""
        return max(self.shared - 2, 0)
