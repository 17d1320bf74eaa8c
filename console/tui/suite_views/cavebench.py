"""What only cave-bench shows: the code a model had run, the numbers of each turn, and the run summed up."""

from collections.abc import Collection, Mapping, Sequence

from console.core.outcome import Verdict
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.executed_code import cells_of
from console.insight.turn_sums import turn_sums
from console.tui.suite_views.code_blocks import CODE_NOTES, turn_code_block
from console.tui.suite_views.suite_view import CaseView, DrawContext, NoteBlock, ReviewedCase, SuiteView
from console.tui.suite_views.turn_summary import sum_blocks, turn_sum_block
from console.tui.widgets.block import Block

MODES = frozenset({"cave", "json"})
"""The suite's own words for its modes, which no other suite has."""


class CaveBenchView(SuiteView):
    """Conversations of several turns, in which the model writes code."""

    note_blocks: Mapping[str, NoteBlock] = CODE_NOTES

    def recognizes(self, manifest: Manifest, score_names: Collection[str]) -> bool:
        """Know a run by its mode."""
        return manifest.setting.mode in MODES

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Add the summary of the run."""
        return [*standard, CaseView("run", "Run", _draw_run)]

    def verdict_block(self, verdict: Verdict) -> Block | None:
        """Return the numbers of each turn."""
        turns = turn_sums(verdict.detail)
        return turn_sum_block(turns) if turns else None

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        """Return the code of each turn, folded to one line."""
        cells = cells_of(conversation.passages)
        turns = sorted({cell.turn for cell in cells})
        return {turn: turn_code_block(turn, [cell for cell in cells if cell.turn == turn]) for turn in turns}


def _draw_run(case: ReviewedCase, context: DrawContext) -> list[Block]:
    return sum_blocks(context.report(), context.rollouts(), context.width)
