"""Runs of one model and selection over time: rate or score with its interval, and the change since the last. Pure.

A trend contains only runs with the same number of rollouts, categories, selection, data and mode, because other cases
give other numbers.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from console.core.grading import mixed_grading
from console.core.run import Manifest, Summary, reroll_words, simulated_note_of
from console.insight.number_format import number, rate
from console.insight.servers import trend_words
from console.suites.headline import headline_of


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as shown in lists, without its journal."""

    summary: Summary
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a trend."""

    run: str
    at: float
    state: str
    value: float | None
    """Pass rate or mean headline score; None when nothing is graded."""
    low: float | None
    """95 % interval; None for a mean without repeats, whose spread the summary lacks."""
    high: float | None
    graded: int
    planned: int
    cost_usd: float
    cost_unknown: int
    change: float | None
    """Change since the previous run; None for the first."""
    cases: int = 0
    """Number of cases behind the interval; 0 if there is none."""
    rollouts: int = 0
    clusters: int = 0
    method: str = ""
    name: str = ""
    """Given name of the run. Untrusted text."""


@dataclass(frozen=True, slots=True)
class Trend:
    """All runs of one model on one selection of a suite."""

    model: str
    suite: str
    selection: str
    """Selected cases, as text."""
    simulated_note: str
    """Which part of its runs is simulated; may be empty."""
    score: str
    """Name of the score followed; empty for the pass rate."""
    points: tuple[Point, ...]
    """Oldest first."""
    unit: str = ""
    """Unit of the score; may be empty. Untrusted text."""
    grading: str = ""
    """Sentence on runs that were graded differently or re-rolled; may be empty. Parts are untrusted text."""
    served: str = ""
    """Sentence about a different server of the last run; empty if the same or unknown. Parts are untrusted text."""

    def show(self, value: float) -> str:
        """Format a value: a rate, or a score with its unit."""
        return number(value, self.unit) if self.score else rate(value)


def trends(runs: Iterable[ListedRun]) -> list[Trend]:
    """Return a trend for every model, suite and selection, those with the most runs first.

    Omits replayed selections of cases, shards, live runs, and runs ended by a look, whose score covers only a part.
    """
    groups: dict[tuple[object, ...], list[ListedRun]] = defaultdict(list)
    for run in runs:
        if run.manifest.is_whole and not run.summary.is_shown_by_look:
            groups[run.summary.model, run.summary.suite, *_selected(run)].append(run)
    trends_found = [_trend(group) for group in groups.values()]
    return sorted(trends_found, key=lambda trend: (-len(trend.points), trend.suite, trend.model, trend.selection))


def _trend(runs: list[ListedRun]) -> Trend:
    ordered = sorted(runs, key=lambda run: run.summary.at)
    last = ordered[-1]
    headlines = (headline_of(run.summary.scores, run.manifest.headline) for run in ordered)
    name = next(filter(None, headlines), "")
    points: list[Point] = []
    for run in ordered:
        points.append(_point(run, name, points[-1] if points else None))
    rerolled = reroll_words(sum(run.summary.rerolled for run in ordered))
    return Trend(
        model=last.summary.model,
        suite=last.summary.suite,
        selection=selection_words(last),
        simulated_note=simulated_note_of(run.summary.simulated_note for run in ordered),
        score=name,
        points=tuple(points),
        unit=last.manifest.units.get(name, ""),
        grading="; ".join(filter(None, (mixed_grading(run.manifest for run in ordered), rerolled))),
        served=trend_words([run.summary for run in ordered]),
    )


def selection_words(run: ListedRun) -> str:
    """Describe a run's selection briefly: `6 cases × 2, fc, live_simple`."""
    selection, setting = run.manifest.selection, run.manifest.setting
    repeats = max(run.manifest.rollouts, 1)
    cases = run.summary.planned_cases // repeats
    kind = "chosen " if selection.ids else "drawn " if selection.seed is not None else ""
    first = f"first {cases}" if selection.limit is not None and not kind else f"{cases} {kind}".rstrip()
    count = f"{first} case{'' if cases == 1 else 's'}{f' × {repeats}' if repeats > 1 else ''}"
    categories = ", ".join(selection.categories[:2]) + (", …" if len(selection.categories) > 2 else "")
    return ", ".join(filter(None, (count, setting.mode if setting.mode != "prompt" else "", categories)))


def _point(run: ListedRun, name: str, last: Point | None) -> Point:
    summary, tally = run.summary, run.summary.tally
    if name:
        interval = summary.score_interval
        value = summary.scores.get(name)
    else:
        interval = tally.rate
        value = None if interval is None else interval.value
    change: float | None = None
    if value is not None and last is not None and last.value is not None:
        change = value - last.value
    return Point(
        run=summary.id,
        at=summary.at,
        state=summary.state,
        value=value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        graded=tally.graded,
        planned=summary.planned_cases,
        cost_usd=tally.cost_usd,
        cost_unknown=tally.cost_unknown,
        change=change,
        cases=interval.cases if interval else 0,
        rollouts=interval.rollouts if interval else 0,
        clusters=interval.clusters if interval else 0,
        method=interval.method if interval else "",
        name=summary.name,
    )


def _selected(run: ListedRun) -> tuple[object, ...]:
    """Return the properties that all runs of a trend share."""
    manifest = run.manifest
    return (run.summary.planned, manifest.rollouts, frozenset(run.summary.categories),
            tuple(sorted(manifest.dataset.items())), manifest.selection, manifest.setting.mode)  # fmt: skip
