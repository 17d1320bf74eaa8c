"""The headline number of a run, by which the leaderboard ranks it; marked if it covers only part of the suite."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from console.core.run import Manifest, Summary, Tally
from console.core.tally import RunFold
from console.insight.number_format import bounds, look_score, number, rate, score_value
from console.suites.headline import PASSED, headline_of

if TYPE_CHECKING:
    from console.suites.leaderboard import Cell

REROLLED = "†"
"""Mark of the number of a run in which graded rollouts were played again."""
REROLLED_WORDS = "graded rollouts were played again; the first grade counts"


def headline(*summaries: Summary, brief: bool = False) -> str:
    """Return the headline of one or more runs of a suite.

    That is the number by which the leaderboard ranks: the official one, the pass rate, or the mean score where nothing
    passes or fails, as in creativity loops, followed by the further headlines of a single run. A star marks a number
    based on only some of the suite's cases, a dagger one of a run with re-rolls; `— (2 of 21)` stands for an official
    number that lacks categories. Several runs get no interval, because they may share cases. A live run, or one ended
    by a look, is represented by its newest look; among several runs, live ones do not count.

    Args:
        summaries: the runs.
        brief: omit additional headlines, and the size of the plan of a run represented by a look.
    """
    units = summaries[0].units if summaries else {}
    if len(summaries) == 1 and summaries[0].is_shown_by_look:
        name = scored_by(summaries[0])
        return look_score(summaries[0].look, name, brief=brief, unit=units.get(name, ""), mark=_mark(summaries))
    summaries = tuple(summary for summary in summaries if summary.state != "running")
    cells = [ranking_number(summary) for summary in summaries]
    mark = _mark(summaries)
    star = "*" * any(cell.is_incomplete or cell.value is None for cell in cells) + mark
    weighted = [(summary.scores[name], summary.tally.finished) for summary in summaries if (name := scored_by(summary))]
    further = "" if brief or len(summaries) != 1 else _further(summaries[0])
    if weighted:
        total = sum(value * finished for value, finished in weighted)
        mean = total / max(sum(finished for _, finished in weighted), 1)
        words = score_value(mean, name := scored_by(summaries[0]), units.get(name, ""))
        if len(summaries) == 1 and (basis := score_basis(summaries[0], name)):
            return f"{words}{mark} {basis}{further}"
        return words + star + further
    if len(summaries) == 1:
        return cell_number(cells[0], mark) + further
    pooled = _number_of_run(summaries[0], "", _pooled(summaries), {}) if summaries else None
    if pooled is None or pooled.value is None:
        return cell_number(pooled) if pooled is not None else "—"
    return f"{rate(pooled.value)}{star}"


def score_basis(run: Summary | RunFold, name: str) -> str:
    """Return on how many graded rollouts a score rests, such as `(1 of 6)`; empty if on all."""
    scored = run.partial_scores.get(name)
    return "" if scored is None else f"({scored:,} of {run.tally.graded:,})"


def _mark(summaries: Sequence[Summary]) -> str:
    return REROLLED if any(summary.rerolled for summary in summaries) else ""


def _pooled(summaries: Sequence[Summary]) -> dict[str, Tally]:
    """Return the graded rollouts of several runs by category."""
    pooled: dict[str, Tally] = {}
    for summary in summaries:
        for category, tally in summary.categories.items():
            whole = pooled.setdefault(category, Tally())
            whole.passed, whole.failed = whole.passed + tally.passed, whole.failed + tally.failed
            for graded, by_passed in tally.counts.cases.items():
                cases = whole.cases.setdefault(graded, {})
                for passed, count in by_passed.items():
                    cases[passed] = cases.get(passed, 0) + count
    return pooled


def ranking_number(summary: Summary) -> "Cell":
    """Return the number by which the leaderboard ranks a run, for the part played so far."""
    from console.suites.leaderboard import with_basis  # not for the first frame

    name = scored_by(summary)
    cell = _number_of_run(summary, name, summary.categories, summary.scores)
    return with_basis(cell, summary.partial_scores.get(name), summary.tally.graded)


def _number_of_run(
    run: Summary | Manifest, name: str, categories: Mapping[str, Tally], scores: Mapping[str, float]
) -> "Cell":
    from console.suites.leaderboard_rules import number_of_run  # not for the first frame

    return number_of_run(run, name, categories, scores)


def pass_rate(fold: RunFold, manifest: Manifest) -> str:
    """Format the headline of a run that reports its pass rate, as `headline` does, from its records."""
    cell = _number_of_run(manifest, "", fold.categories, fold.scores)
    return cell_number(cell, REROLLED if fold.rerolled else "")


def headline_gap(summary: Summary) -> str:
    """Return what a headline with a star, or without a number, lacks; empty for a complete one."""
    if summary.is_shown_by_look:
        return ""
    cell = ranking_number(summary)
    return cell.gap or (cell.note.partition("; ")[0] if cell.is_incomplete else "")


def headline_legend(headlines: Collection[str]) -> list[str]:
    """Return the explanations of stars and missing numbers in formatted headlines."""
    from console.suites.leaderboard import INCOMPLETE_WORDS, STAR

    words = [f"{STAR} {INCOMPLETE_WORDS}"] * any(STAR in headline for headline in headlines)
    is_missing = any(headline.startswith("— (") for headline in headlines)
    words += [f"{REROLLED} {REROLLED_WORDS}"] * any(REROLLED in headline for headline in headlines)
    return words + ["— the official score needs categories that were not played"] * is_missing


def cell_number(cell: "Cell", mark: str = "") -> str:
    """Format a number of a leaderboard with its star, a further mark and its interval, such as `.82* [.74 .88]`.

    A missing one becomes `— (2 of 21)`.
    """
    if cell.value is None:
        return cell.missing if cell.is_played else "—"
    return f"{rate(cell.value)}{cell.star}{mark} {bounds(cell.low, cell.high)}".rstrip()


def _further(summary: Summary) -> str:
    """Return the further headlines of a run, such as ` · tests .71`."""
    shown: list[str] = []
    for name in summary.further_headlines:
        if name in summary.scores:
            shown.append(f" · {name} {number(summary.scores[name], summary.units.get(name, ''))}")
        elif not name and summary.tally.rate is not None:
            shown.append(f" · {PASSED} {rate(summary.tally.rate.value)}")
    return "".join(shown)


def scored_by(summary: Summary) -> str:
    """Return the score that a run reports in place of passing; empty for passing."""
    return headline_of(summary.scores, summary.headline)
