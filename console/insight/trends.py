"""Runs of one model and suite over time: rate or score with its interval, and the change since the run before. Pure.

Two runs are only called comparable when they planned the same number of rollouts of the same categories with the same
data and mode; the change is left out otherwise, because other cases make another number.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from console.core.run import Manifest, Summary
from console.suites.headline import headline_of


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as lists have it, without its journal."""

    summary: Summary
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a trend."""

    run: str
    at: float
    state: str
    value: float | None
    """Share passed, or mean headline score; None when nothing is graded."""
    low: float | None
    """95 % interval; None for a mean without repeats, whose spread the summary does not hold."""
    high: float | None
    graded: int
    planned: int
    cost_usd: float
    cost_unknown: int
    change: float | None
    """Since the run before, when the two are comparable."""
    cases: int = 0
    """What the interval rests on; 0 and empty without one."""
    rollouts: int = 0
    clusters: int = 0
    method: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """All runs of one model on one suite."""

    model: str
    suite: str
    simulated: bool
    score: str
    """Name of the mean that is followed; empty: the share passed."""
    points: tuple[Point, ...]
    """Oldest first."""


def trends(runs: Iterable[ListedRun]) -> list[Trend]:
    """Return a trend for every model and suite, those with most runs first; re-asked cases and shards are left out."""
    groups: dict[tuple[str, str], list[ListedRun]] = defaultdict(list)
    for run in runs:
        if run.manifest.is_whole:
            groups[run.summary.model, run.summary.suite].append(run)
    made = [_trend(model, suite, group) for (model, suite), group in groups.items()]
    return sorted(made, key=lambda trend: (-len(trend.points), trend.suite, trend.model))


def _trend(model: str, suite: str, runs: list[ListedRun]) -> Trend:
    ordered = sorted(runs, key=lambda run: run.summary.at)
    headlines = (headline_of(run.summary.scores, run.manifest.headline) for run in ordered)
    name = next(filter(None, headlines), "")
    points: list[Point] = []
    before: ListedRun | None = None
    for run in ordered:
        points.append(_point(run, name, before, points[-1] if points else None))
        before = run
    return Trend(model, suite, any(run.summary.simulated for run in ordered), name, tuple(points))


def _point(run: ListedRun, name: str, before: ListedRun | None, last: Point | None) -> Point:
    summary, tally = run.summary, run.summary.tally
    if name:
        interval = summary.score_interval
        value = summary.scores.get(name)
    else:
        interval = tally.rate
        value = None if interval is None else interval.value
    change: float | None = None
    if (
        value is not None
        and last is not None
        and last.value is not None
        and before is not None
        and _are_comparable(run, before)
    ):
        change = value - last.value
    return Point(
        run=summary.id,
        at=summary.at,
        state=summary.state,
        value=value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        graded=tally.graded,
        planned=summary.planned,
        cost_usd=tally.cost_usd,
        cost_unknown=tally.cost_unknown,
        change=change,
        cases=interval.cases if interval else 0,
        rollouts=interval.rollouts if interval else 0,
        clusters=interval.clusters if interval else 0,
        method=interval.method if interval else "",
    )


def _are_comparable(run: ListedRun, before: ListedRun) -> bool:
    return _planned(run) == _planned(before)


def _planned(run: ListedRun) -> tuple[object, ...]:
    """Return everything in which two comparable runs agree."""
    manifest = run.manifest
    return (run.summary.planned, frozenset(run.summary.categories), manifest.dataset, manifest.selection,
            manifest.setting.mode)  # fmt: skip
