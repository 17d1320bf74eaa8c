"""What only AidanBench shows: loops of answers, read round by round, called by their questions, without a pass rate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight import number_format
from console.insight.loops import NOVELTY, is_loop
from console.insight.rollout import Rollout
from console.tui.render import diff
from console.tui.render.broken_case import broken_blocks
from console.tui.suite_views.loop_case import loop_blocks
from console.tui.suite_views.loop_facts import accepted
from console.tui.suite_views.loop_live import LoopLiveView
from console.tui.suite_views.loop_notes import LOOP_NOTES
from console.tui.suite_views.loop_summary import run_blocks
from console.tui.suite_views.suite_view import CaseView, DrawContext, LiveView, NoteBlock, ReviewedCase, SuiteView
from console.tui.widgets.block import Block

_ABSENT = ("truth", "tools")
"""Standard views that a loop has not: it is offered no tools, and no answer is the right one."""


class AidanBenchView(SuiteView):
    """Loops of answers to an open question, each of which must be coherent and new."""

    lists_everything: bool = True
    everything_label: str = "all loops"
    has_pass_rate: bool = False
    has_conversation_pane: bool = False
    live: LiveView | None = LoopLiveView()
    note_blocks: Mapping[str, NoteBlock] = LOOP_NOTES

    def recognizes(self, manifest: Manifest, score_names: Collection[str]) -> bool:
        """Know a run by its scores, and before there are any, by the model that embeds answers."""
        return NOVELTY in score_names or "embedding" in manifest.roles

    def case_name(self, rollout: Rollout) -> str:
        """Return the question."""
        if not rollout.title:
            return str(rollout.key)
        return f"{rollout.title} #{rollout.key.rollout + 1}" if rollout.key.rollout else rollout.title

    def case_detail(self, rollout: Rollout) -> str:
        """Return how many answers were accepted."""
        return number_format.plural(accepted(rollout), "answer")

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Show rounds in place of a difference, and the summary of the run."""
        views = [_rounds_view(view) if view.id == "diff" else view for view in standard if view.id not in _ABSENT]
        return [*views, CaseView("run", "Run", _draw_run)]


def _rounds_view(difference: CaseView) -> CaseView:
    """Return the view of a case's rounds; a case without rounds is shown as any other."""

    def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
        return _draw_rounds(case, context) if _has_rounds(case) else difference.draw(case, context)

    def folds_same(case: ReviewedCase) -> bool:
        return _has_rounds(case) or difference.folds_same(case)

    return replace(difference, name="Rounds", draw=draw, folds_same=folds_same)


def _has_rounds(case: ReviewedCase) -> bool:
    return is_loop(case.conversation.passages)


def _draw_rounds(case: ReviewedCase, context: DrawContext) -> list[Block]:
    is_stacked = context.style.layout is not diff.Layout.SIDES
    rounds = loop_blocks(
        case.conversation, case.comparison, context.width, stacked=is_stacked, folded=not context.style.fold_same
    )
    is_broken = case.rollout.outcome is Outcome.BROKEN
    return [*broken_blocks(case.rollout, case.conversation), *rounds] if is_broken else rounds


def _draw_run(case: ReviewedCase, context: DrawContext) -> list[Block]:
    return run_blocks(context.report(), context.rollouts(), context.width)
