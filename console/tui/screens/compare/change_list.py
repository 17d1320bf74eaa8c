"""`ChangeList`: the pairs that Compare lists, with how A and B ended and why that changed."""

from collections.abc import Mapping

from textual.content import Content

from console.core.outcome import Outcome
from console.exchange.comparison_table import change_words
from console.insight.comparison import RolloutPair, RunComparison
from console.insight.rollout import Rollout
from console.tui.render.dot_plot import dots
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import literal, one_line
from console.tui.widgets.row_list import Column, RowList

MUTED = "$muted"
PLOT_WIDTH = 9
"""Cells of the line of dots in a row."""
COLUMNS = (Column("case", 22, 3), Column("A", 3), Column("B", 3), Column("why", 16, 4))


class ChangeList(RowList):
    """One row for each pair; the cursor stays on its case whatever is listed."""

    def __init__(self) -> None:
        """Say that both runs are being read."""
        super().__init__(COLUMNS, id="changes", classes="pane", names=True, empty=Content("reading both runs …"))
        self._pairs: Mapping[str, RolloutPair] = {}
        self._headline = ""
        self._highest_score = 0.0

    def show_pairs(
        self, pairs: Mapping[str, RolloutPair], comparison: RunComparison, scope: str, empty_words: str
    ) -> None:
        """List pairs by row key, or say why there are none."""
        self._pairs, self._headline = pairs, comparison.headline
        scores = (rollout.scores.get(self._headline, 0.0) for pair in comparison.pairs for rollout in (pair.a, pair.b))
        self._highest_score = max(scores, default=0.0)
        self.border_title = Content.assemble(scope.capitalize(), (f"  {len(pairs)}", MUTED))
        self.border_subtitle = Content.styled("f filter", MUTED)
        self.show(list(pairs), draw=self._cells, empty=Content(empty_words))

    def refuse(self, why: str) -> None:
        """Say why the runs cannot be shown. Foreign text."""
        self.show([], empty=literal(why, 400, "$broken"))

    def _cells(self, key: str) -> tuple[Content, ...]:
        pair = self._pairs[key]
        why = one_line(change_words(pair)[1], 200, MUTED)
        if pair.is_scored:
            a, b = (rollout.scores[self._headline] for rollout in (pair.a, pair.b))
            why = Content.assemble(dots(a, b, self._highest_score, PLOT_WIDTH), " ", why)
        return (one_line(self._case_name(pair), 120), self._outcome_mark(pair.a), self._outcome_mark(pair.b), why)

    def _case_name(self, pair: RolloutPair) -> str:
        """A loop is called by its question, as everywhere; other cases by their id."""
        if not self._headline or not pair.a.title:
            return str(pair.a.key)
        return pair.a.title + (f" #{pair.a.key.rollout + 1}" if pair.a.key.rollout else "")

    def _outcome_mark(self, rollout: Rollout) -> Content:
        if self._headline and self._headline in rollout.scores:
            return Content.styled(f"{rollout.scores[self._headline]:g}"[:3].rjust(3), "bold")
        outcome = rollout.outcome
        if outcome is None:
            return Content.styled(SYMBOLS.not_run, MUTED)
        style = OUTCOME_STYLES[outcome]
        return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)
