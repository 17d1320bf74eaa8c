"""`ShownCase`: what the pane of a case draws, as the controller gives it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.core.annotation import Annotation
from console.core.run import ModelFacts
from console.insight.rollout import Rollout
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase, SuiteView


@dataclass(frozen=True, slots=True)
class ShownCase:
    """The current case, as its pane draws it."""

    case: ReviewedCase
    annotation: Annotation
    model: ModelFacts
    """The model that was asked for."""
    simulated: bool
    alike: int
    """How many listed cases have the same reason; 0 when the list is grouped by something else."""
    views: Sequence[CaseView]
    """Its tabs."""
    view: CaseView
    style: diff.Style
    suite_view: SuiteView
    words: str
    """First text that the list is searched for."""
    rollouts: Callable[[], Sequence[Rollout]]
    report: Callable[[], Report | str]

    def context(self, width: int, *, with_conversation: bool) -> DrawContext:
        """Return what a view needs to draw this case in so many cells."""
        return DrawContext(width, self.style, self.suite_view, with_conversation, self.rollouts, self.report)
