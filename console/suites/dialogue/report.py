"""From finished conversations to numbers: the share that passed, by category too, and the means of what judges gave."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from console.core.statistics.intervals import mean_interval
from console.suites.metrics import interval_metric, rate_metric, sample_of_results
from console.suites.suite import Metric, Report, Result


def report(results: Sequence[Result]) -> Report:
    """Aggregate."""
    by_category: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_category[result.category].append(result)
    return Report(
        metrics=(rate_metric("accuracy", results), *_score_metrics(results)),
        categories={
            name: (rate_metric("accuracy", items), *_score_metrics(items)) for name, items in by_category.items()
        },
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
        reasons=dict(Counter(result.verdict.reason for result in results if result.verdict.reason).most_common()),
    )


def _score_metrics(results: Sequence[Result]) -> list[Metric]:
    """Return the mean of each score, with its interval."""
    names = dict.fromkeys(name for result in results for name in result.verdict.scores)
    metrics: list[Metric] = []
    for name in names:
        scored = [result for result in results if name in result.verdict.scores]
        interval = mean_interval(sample_of_results(scored, lambda result, name=name: result.verdict.scores[name]))
        if interval is not None:
            metrics.append(interval_metric(name, interval, unit="mean"))
    return metrics
