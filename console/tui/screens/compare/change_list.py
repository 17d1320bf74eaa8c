"""The list of Compare: which pairs are shown, in which order, and where the reader is. Draws nothing but its rows."""

from textual.content import Content

from console.core.outcome import Outcome
from console.exchange.comparison_table import change_words
from console.insight.comparison import PairOutcome, RolloutPair, RunComparison
from console.tui.render.rollout_rows import row_key
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.compare.dot_plot import dots
from console.tui.widgets.row_list import Column

MUTED = "$muted"
DOTS = 9
"""Cells of the line of dots in a row."""
COLUMNS = (Column("case", 22, 3), Column("A", 3), Column("B", 3), Column("why", 16, 4))
SCOPES: dict[str, tuple[PairOutcome, ...]] = {
    "changed": (PairOutcome.LOST, PairOutcome.GAINED),
    "lost": (PairOutcome.LOST,),
    "gained": (PairOutcome.GAINED,),
    "both fail": (PairOutcome.NEITHER,),
    "left out": (PairOutcome.LEFT_OUT,),
    "all": tuple(PairOutcome),
}
"""What can be listed, by the word for it."""


class Changes:
    """What is listed."""

    def __init__(self) -> None:
        """List nothing yet."""
        self.scope = "changed"
        self.words = ""
        """Only pairs with these words in id, category or reason are listed."""
        self.pairs: dict[str, RolloutPair] = {}
        """What is listed, by row key, in order."""
        self._headline = ""
        self._most = 0.0
        """The highest score of either run."""

    def take(self, found: RunComparison) -> None:
        """List the pairs of the scope: what was lost first, then what was gained, then the others."""
        wanted = SCOPES[self.scope]
        changed = [pair for pair in found.changes() if pair.outcome in wanted]
        others = [pair for pair in found.pairs if pair.outcome in wanted and not pair.is_change]
        self._headline = found.headline
        scores = (side.scores.get(found.headline, 0.0) for pair in found.pairs for side in (pair.a, pair.b))
        self._most = max(scores, default=0.0)
        self.pairs = {row_key(pair.slot): pair for pair in (*changed, *others) if self._keeps(pair)}

    def _keeps(self, pair: RolloutPair) -> bool:
        text = " ".join((str(pair.a.key), pair.a.category, pair.a.title, *change_words(pair))).casefold()
        return all(word in text for word in self.words.casefold().split())

    def step(self, key: str | None, by: int) -> str | None:
        """Return the key of the next (or previous) pair; None at the end."""
        keys = list(self.pairs)
        if key not in self.pairs:
            return (keys[0] if by > 0 else keys[-1]) if keys else None
        place = keys.index(key) + by
        return keys[place] if 0 <= place < len(keys) else None

    def draw(self, key: str) -> tuple[Content, ...]:
        """Return the cells of a row."""
        pair = self.pairs[key]
        why = one_line(change_words(pair)[1], 200, MUTED)
        if pair.is_scored:
            a, b = (side.scores[self._headline] for side in (pair.a, pair.b))
            why = Content.assemble(dots(a, b, self._most, DOTS), " ", why)
        return (one_line(self._name(pair), 120), *(self._mark(pair, side) for side in "ab"), why)

    def _name(self, pair: RolloutPair) -> str:
        """A loop is called by its question, as everywhere; other cases by their id."""
        if not self._headline or not pair.a.title:
            return str(pair.a.key)
        return pair.a.title + (f" #{pair.a.key.rollout + 1}" if pair.a.key.rollout else "")

    def _mark(self, pair: RolloutPair, side: str) -> Content:
        rollout = pair.a if side == "a" else pair.b
        if self._headline and self._headline in rollout.scores:
            return Content.styled(f"{rollout.scores[self._headline]:g}"[:3].rjust(3), "bold")
        outcome = rollout.outcome
        if outcome is None:
            return Content.styled(SYMBOLS.not_run, MUTED)
        style = OUTCOME_STYLES[outcome]
        return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)
