"""Effects of grading runs again: verdicts that flipped, and ranks before and after. Pure."""

from collections import Counter
from collections.abc import Sequence

from console.core.outcome import Outcome
from console.core.run import Summary
from console.insight.comparison import RunComparison
from console.insight.number_format import number, plural, rate
from console.insight.reasons import sentence
from console.insight.report import Row, Section
from console.insight.rollout import Rollout, outcome_word
from console.suites.headline import headline_of


def flips(comparison: RunComparison) -> Section:
    """Return the verdicts that differ between a run and its new grading, by reason and category."""
    counts = Counter(
        (f"{outcome_word(pair.a.outcome)} → {outcome_word(pair.b.outcome)}", _why(pair.a, pair.b), pair.a.category)
        for pair in comparison.pairs
        if pair.a.outcome is not pair.b.outcome
    )
    rows = [Row((change, why, category, str(count))) for (change, why, category), count in counts.most_common()]
    same = len(comparison.pairs) - sum(counts.values())
    line = f"{plural(same, 'verdict')} unchanged"
    return Section("Flips", ("verdict", "reason", "category", "count"), tuple(rows), frozenset({3}), lines=(line,))


def _why(old: Rollout, new: Rollout) -> str:
    """Return the reason of the verdict that is not a pass, preferably the new one."""
    telling = old if new.outcome is Outcome.PASSED else new
    return sentence(telling.reason, telling.subject, telling.outcome)


def ranks(pairs: Sequence[tuple[Summary, Summary]]) -> Section | None:
    """Return the ranks of several runs of a suite before and after; None for fewer than two."""
    if len(pairs) < 2:
        return None
    headline = next(filter(None, (headline_of(new.scores, new.headline) for _, new in pairs)), "")
    values = [[_value(pair[side], headline) for pair in pairs] for side in (0, 1)]
    show = number if headline else rate
    rows: list[Row] = []
    for place in sorted(range(len(pairs)), key=lambda place: -(values[1][place] or 0.0)):
        cells = [
            text
            for side in values
            for text in ("—" if side[place] is None else show(side[place] or 0.0), _rank(side, place))
        ]
        rows.append(Row((pairs[place][1].model, *cells)))
    headings = ("model", f"{headline or 'passed'} before", "rank", "after", "rank")
    return Section("Ranks", headings, tuple(rows), frozenset({1, 2, 3, 4}))


def _value(summary: Summary, headline: str) -> float | None:
    if headline:
        return summary.scores.get(headline)
    interval = summary.tally.rate
    return None if interval is None else interval.value


def _rank(values: Sequence[float | None], place: int) -> str:
    own = values[place]
    return "" if own is None else str(1 + sum(other is not None and other > own for other in values))
