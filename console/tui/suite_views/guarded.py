"""A view of another package, whose faults cost only what it was to draw: the standard is shown in its place."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from console.core.outcome import Verdict
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import CaseView, DrawContext, HintLabel, ReviewedCase, SuiteView
from console.tui.widgets.block import Block

T = TypeVar("T")


class GuardedView(SuiteView):
    """Asks another package's view, and answers as the standard does where that fails."""

    def __init__(self, format_name: str, view: SuiteView) -> None:
        """Guard the view of a format. Its words are taken over; its own shape of Live, which draws at every tick, not.

        Raises:
            Exception: whatever its code raises while its words are read.
        """
        self._name = format_name
        self._view = view
        self.lists_everything = bool(view.lists_everything)
        self.everything_label = str(view.everything_label)
        self.has_pass_rate = bool(view.has_pass_rate)
        self.has_conversation_pane = bool(view.has_conversation_pane)
        self.note_blocks = {}

    def recognizes(self, manifest: Manifest, score_names: Collection[str]) -> bool:
        """Another package's view is found by its format only."""
        return False

    def case_name(self, rollout: Rollout) -> str:
        """Return what a case is called in a list."""
        return _attempt(lambda: str(self._view.case_name(rollout)), lambda: super(GuardedView, self).case_name(rollout))

    def case_detail(self, rollout: Rollout) -> str:
        """Return what stands beside a case in Review's list."""
        return _attempt(lambda: str(self._view.case_detail(rollout)), str)

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Return the views of its cases, each guarded."""
        by_id = {view.id: view for view in standard}
        offered = _attempt(lambda: list(self._view.case_views(standard)), lambda: list(standard))
        views = [view if view is by_id.get(view.id) else self._guard(view, by_id.get(view.id)) for view in offered]
        return views or standard

    def verdict_block(self, verdict: Verdict) -> Block | None:
        """Return the block of a verdict's particulars."""
        return _attempt(lambda: self._view.verdict_block(verdict), lambda: None)

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        """Return the code that was run in each turn."""
        return _attempt(lambda: dict(self._view.code_blocks(conversation)), dict[int, Block])

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        """Return what a comparison's hint is called."""
        return _attempt(lambda: self._view.hint_label(verdict), lambda: super(GuardedView, self).hint_label(verdict))

    def _guard(self, view: CaseView, standard: CaseView | None) -> CaseView:
        """Return a view that says what failed, above the standard one if there is one of that name."""

        def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
            try:
                return list(view.draw(case, context))
            except Exception as error:  # code of another package may fail in any way
                words = f"the view {view.name} of {self._name} failed: {type(error).__name__}: {error}"
                fault = Block("view fault", body=(one_line(words, 400, "$broken"),), indent=0)
                return [fault, *(standard.draw(case, context) if standard is not None else [])]

        def exists_for(rollout: Rollout) -> bool:
            return _attempt(lambda: bool(view.exists_for(rollout)), lambda: True)

        def folds_same(case: ReviewedCase) -> bool:
            return _attempt(lambda: bool(view.folds_same(case)), lambda: False)

        name = one_line(str(view.name), 20).plain
        return replace(view, name=name, draw=draw, exists_for=exists_for, folds_same=folds_same)


def _attempt(ask: Callable[[], T], standard: Callable[[], T]) -> T:
    try:
        return ask()
    except Exception:  # code of another package may fail in any way; the standard is shown instead
        return standard()
