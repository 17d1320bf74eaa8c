"""Report metrics from the results of rollouts, with intervals and sample sizes. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, bounded_interval, mean_interval, rate_interval
from console.core.statistics.sample import Observation, Sample, sample_of
from console.suites.suite import Metric, Result

_NO_SCALES: Mapping[str, tuple[float, float]] = MappingProxyType({})


def sample_of_results(results: Iterable[Result], read: Callable[[Result], float]) -> Sample:
    """Return a sample of the numbers that `read` extracts from results."""
    return sample_of(Observation(result.case_id, read(result), result.category, result.cluster) for result in results)


def rate_metric(name: str, results: Iterable[Result], note: str = "") -> Metric:
    """Return the pass rate of the graded results, with equal weight per case; its value is None without any."""
    graded = [result for result in results if result.verdict.outcome.is_graded]
    interval = rate_interval(sample_of_results(graded, has_passed))
    return Metric(name, None, note=note) if interval is None else interval_metric(name, interval, note=note)


def score_metrics(results: Sequence[Result], scales: Mapping[str, tuple[float, float]] = _NO_SCALES) -> list[Metric]:
    """Return the mean of each score: a rate if all are 0 or 1, else with an interval that stays on its scale, if known.

    Args:
        results: the graded results.
        scales: lowest and highest value by score; of a score with other values it is ignored.
    """
    metrics: list[Metric] = []
    for name in dict.fromkeys(name for result in results for name in result.verdict.scores):
        scored = [result for result in results if name in result.verdict.scores]
        sample = sample_of_results(scored, lambda result, name=name: result.verdict.scores[name])
        values = {result.verdict.scores[name] for result in scored}
        low, high = scales.get(name, (0.0, 0.0))
        if values <= {0.0, 1.0} and (low, high) in ((0.0, 0.0), (0.0, 1.0)):
            interval, unit = rate_interval(sample), "rate"
        elif low < high and low <= min(values) and max(values) <= high:
            interval, unit = bounded_interval(sample, low, high), "mean"
        else:
            interval, unit = mean_interval(sample), "mean"
        metrics += [] if interval is None else [interval_metric(name, interval, unit=unit)]
    return metrics


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
    """Describe the sample of a metric: rollouts, or cases if repeated or clustered; empty without a sample."""
    is_repeated, is_clustered = metric.rollouts > metric.cases, 0 < metric.clusters < metric.cases
    if not metric.cases or not (is_repeated or is_clustered):
        return str(metric.count or "")
    clusters = f" in {metric.clusters} clusters" if is_clustered else ""
    return f"{metric.cases} cases{clusters}" + (f", {metric.rollouts} rollouts" if is_repeated else "")
