"""AidanBench's shape of Live: a row for each question, rounds as they are written, where the scores stand."""

from collections.abc import Sequence

from textual.content import Content

from console.insight import number_format
from console.insight.overview import Overview
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.insight.sort_orders import SortOrder
from console.tui.render.columns import Column
from console.tui.render.lines import stacked
from console.tui.render.symbols import MUTED, muted
from console.tui.sanitize import one_line
from console.tui.suite_views.aidanbench.endings import accepted_counts, ending_lines, length_lines
from console.tui.suite_views.aidanbench.loop_blocks import LoopBlocks
from console.tui.suite_views.aidanbench.loop_rows import LOOP_COLUMNS, loop_cells
from console.tui.suite_views.aidanbench.outlook import outlook_words, trend_lines
from console.tui.suite_views.suite_view import ConversationDrawer
from console.tui.widgets.transcript import Transcript

MOST_ENDINGS = 5
"""Reasons for the end of a loop that are listed."""


class LoopLiveView:
    """Rows, conversations and figures of a run of loops."""

    rows_title: str = "Loops"
    columns: tuple[Column, ...] = LOOP_COLUMNS

    def __init__(self) -> None:
        """Sort by how near a loop is to its end, besides the usual orders."""
        self.sort_orders = (SortOrder("closest to stopping", _distance_to_end, goes_to_first=True),)

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return question, round, last scores, the course of novelty, and what the loop does."""
        return loop_cells(rollout, now, live=live)

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        """Return what draws a loop round by round."""
        return LoopBlocks(transcript)

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return the question, the round, and why the loop ended or which score will end it."""
        if rollout is None:
            return Content("")
        again = f" #{rollout.key.rollout + 1}" if rollout.key.rollout else ""
        name = one_line(f"{rollout.order + 1}  {rollout.title or rollout.key}", 40, "bold").append(again)
        where = muted(f"round {rollout.turn + 1}" if rollout.turn else "")
        if rollout.outcome is not None:
            spent = number_format.duration(rollout.seconds) if rollout.seconds else ""
            ending = reason_words(rollout.reason) if rollout.reason else rollout.ending
            return stacked([name, where, one_line(ending, 60, MUTED), Content(spent)])
        return stacked([name, where, one_line(rollout.why or rollout.state, 60, MUTED), outlook_words(rollout)])

    def average(self, overview: Overview) -> Content:
        """Return how many answers were accepted in a loop on average: of graded loops, as in `length_lines`."""
        lengths = accepted_counts(overview.rollouts.values())
        if not lengths:
            return Content.empty()
        return Content.styled(f"mean {number_format.number(sum(lengths) / len(lengths))} answers", "bold")

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return one line for every score, with about how long the loop can go on."""
        return trend_lines(rollout, live=live)

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return why loops ended and how many answers they have."""
        return [*ending_lines(rollouts, width)[:MOST_ENDINGS], *length_lines(rollouts)]


def _distance_to_end(rollout: Rollout) -> tuple[bool, float]:
    """Return how near a loop is to its nearest threshold, ended ones last."""
    gaps = [
        (track.last - track.threshold) / (100.0 if track.threshold > 1 else 1.0)
        for track in rollout.tracks.values()
        if track.last is not None and track.threshold is not None
    ]
    return not rollout.is_running, min(gaps, default=1.0)
