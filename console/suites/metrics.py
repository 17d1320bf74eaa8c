"""Report metrics from the results of rollouts, with intervals and sample sizes. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, rate_interval, score_interval
from console.core.statistics.sample import Observation, Sample, sample_of
from console.suites.suite import Metric, Result

_NONE: Mapping[str, Any] = MappingProxyType({})


def sample_of_results(results: Iterable[Result], read: Callable[[Result], float]) -> Sample:
    """Return a sample of the numbers that `read` extracts from results."""
    return sample_of(Observation(result.case_id, read(result), result.category, result.cluster) for result in results)


def rate_metric(name: str, results: Iterable[Result], note: str = "") -> Metric:
    """Return the pass rate of the graded results, with equal weight per case; its value is None if there are none."""
    graded = [result for result in results if result.verdict.outcome.is_graded]
    interval = rate_interval(sample_of_results(graded, has_passed))
    return Metric(name, None, note=note) if interval is None else interval_metric(name, interval, note=note)


def score_metrics(
    results: Sequence[Result],
    scales: Mapping[str, tuple[float, float]] = _NONE,
    units: Mapping[str, str] = _NONE,
    rates: Collection[str] | None = None,
) -> list[Metric]:
    """Return the mean of each score: a rate if all are 0 or 1, else with an interval that stays on its scale, if known.

    Args:
        results: the graded results.
        scales: lowest and highest value by score; ignored for a score that has other values.
        units: unit by score.
        rates: scores that may be rates; None for all. Others may be counts that happen to be 0 or 1.
    """
    metrics: list[Metric] = []
    for name in dict.fromkeys(name for result in results for name in result.verdict.scores):
        scored = [result for result in results if name in result.verdict.scores]
        sample = sample_of_results(scored, lambda result, name=name: result.verdict.scores[name])
        is_rate = (rates is None or name in rates) and is_yes_or_no(
            (result.verdict.scores[name] for result in scored), scales.get(name)
        )
        interval = rate_interval(sample) if is_rate else score_interval(sample, scales.get(name))
        unit = units.get(name) or ("rate" if is_rate else "mean")
        metrics += [] if interval is None else [interval_metric(name, interval, unit=unit)]
    return metrics


def first_scores(results: Iterable[Result]) -> set[str]:
    """Return the first score of each result, which decides in harnesses whose suite names none."""
    return {next(iter(result.verdict.scores)) for result in results if result.verdict.scores}


def is_yes_or_no(values: Iterable[float], scale: tuple[float, float] | None) -> bool:
    """Return whether a score is a rate: all values are 0 or 1, and no other scale is declared."""
    return scale in (None, (0.0, 1.0)) and all(value in (0.0, 1.0) for value in values)


def has_passed(result: Result) -> float:
    """Return 1 for a passed result, else 0."""
    return float(result.verdict.outcome is Outcome.PASSED)


def interval_metric(name: str, interval: Interval, *, unit: str = "rate", note: str = "") -> Metric:
    """Return an interval as a metric, with the interval's caution appended to its note."""
    return Metric(
        name=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        count=interval.rollouts,
        unit=unit,
        note="; ".join(filter(None, (note, interval.caution))),
        cases=interval.cases,
        rollouts=interval.rollouts,
        clusters=interval.clusters,
        method=interval.method,
    )


def basis_words(metric: Metric) -> str:
    """Describe the sample of a metric: rollouts, or cases if repeated or clustered; empty if there is no sample."""
    is_repeated, is_clustered = metric.rollouts > metric.cases, 0 < metric.clusters < metric.cases
    if not metric.cases or not (is_repeated or is_clustered):
        return str(metric.count or "")
    clusters = f" in {metric.clusters} clusters" if is_clustered else ""
    cases = f"{metric.cases} case{'s' * (metric.cases != 1)}{clusters}"
    return cases + (f", {metric.rollouts} rollouts" if is_repeated else "")
