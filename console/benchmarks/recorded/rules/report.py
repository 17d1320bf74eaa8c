"""Report of judged pairs: win rate, position bias, and the Bradley–Terry strengths of several runs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from console.core.outcome import Outcome, Verdict
from console.core.statistics.bradley_terry import Duel, strengths
from console.core.statistics.intervals import bounded_interval
from console.core.statistics.sample import Observation, sample_of
from console.suites.judging.rubric import CHOSE_FIRST, WIN_RATE
from console.suites.metrics import interval_metric, score_metrics
from console.suites.suite import Metric, Report, Result

AT_EQUAL_LENGTH = "at equal length"
_SCALES: dict[str, tuple[float, float]] = dict.fromkeys((WIN_RATE, CHOSE_FIRST), (0.0, 1.0))


def report(results: Sequence[Result], names: Sequence[str], *, length_control: bool) -> Report:
    """Aggregate the judged pairs.

    Args:
        results: all results.
        names: display names of the runs.
        length_control: also remove the effect of length.
    """
    graded = [result for result in results if result.verdict.outcome.is_graded]
    by_category: dict[str, list[Result]] = defaultdict(list)
    for result in graded:
        by_category[result.category].append(result)
    return Report(
        metrics=(*_metrics(graded, names), *_by_pair(graded, names), *_strengths(graded, names, length_control)),
        categories={name: _metrics(part, names)[:1] for name, part in by_category.items()}
        if len(by_category) > 1
        else {},
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
    )


def _metrics(graded: Sequence[Result], names: Sequence[str]) -> tuple[Metric, ...]:
    """Return the mean scores, first the win rate with the names of the runs."""
    others = "the others" if len(names) > 2 else names[-1]
    about = f"{names[0]} against {others}"
    return tuple(
        replace(metric, note="; ".join(filter(None, (about, metric.note)))) if metric.name == WIN_RATE else metric
        for metric in score_metrics(graded, _SCALES)
    )


def _by_pair(graded: Sequence[Result], names: Sequence[str]) -> list[Metric]:
    """Return the win rate of each run against each later one, if there are several pairs."""
    if len(names) < 3:
        return []
    by_pair: dict[tuple[int, int], list[Observation]] = defaultdict(list)
    for result in graded:
        first, second = result.verdict.detail["pair"]
        won = result.verdict.detail["won"]
        by_pair[first, second].append(Observation(result.case_id, won, result.category, result.cluster))
    metrics: list[Metric] = []
    for (first, second), observations in sorted(by_pair.items()):
        interval = bounded_interval(sample_of(observations), 0.0, 1.0)
        if interval is not None:
            metrics.append(interval_metric(f"{names[first]} : {names[second]}", interval, unit="mean"))
    return metrics


def _strengths(graded: Sequence[Result], names: Sequence[str], length_control: bool) -> list[Metric]:
    """Return the strength of each run, with and without the effect of length; for two runs, only the win rate."""
    duels = [duel for result in graded if (duel := duel_of(result.verdict, range(len(names)), result.cluster))]
    metrics: list[Metric] = []
    if len(names) > 2 and (plain := strengths(duels, len(names))) is not None:
        for name, interval in zip(names, plain.players, strict=True):
            metrics.append(interval_metric(name, interval, unit="points", note="Bradley–Terry strength"))
    fair = strengths(duels, len(names), length_control=True) if length_control else None
    if fair is not None and fair.length is not None:
        if len(names) == 2:
            metrics.append(interval_metric(f"{WIN_RATE} {AT_EQUAL_LENGTH}", fair.rates[0], unit="mean"))
        else:
            for name, interval in zip(names, fair.players, strict=True):
                metrics.append(interval_metric(f"{name}, {AT_EQUAL_LENGTH}", interval, unit="points"))
        metrics.append(Metric("log-odds by length", fair.length, unit="mean", note="per standard deviation of length"))
    return metrics


def duel_of(verdict: Verdict, players: Sequence[int], cluster: str) -> Duel | None:
    """Return a judged pair as a duel between players, given by the number of the run; None if there is no grade."""
    detail: dict[str, Any] = verdict.detail
    if verdict.outcome not in (Outcome.PASSED, Outcome.FAILED) or "pair" not in detail:
        return None
    one, other = detail["lengths"]
    longer = (one - other) / (one + other) if one + other else 0.0
    first, second = detail["pair"]
    return Duel(players[first], players[second], detail["won"], cluster, longer)
