"""The report of a run. Pure."""

from collections import Counter
from collections.abc import Sequence

from console.core.outcome import Outcome
from console.suites.metrics import rate_metric
from console.suites.suite import Metric, Report, Result


def report(results: Sequence[Result], note: str) -> Report:
    """Report the pass rate of each domain and their mean, as the leaderboard has it.

    Args:
        results: all rollouts.
        note: why results cannot be compared with published ones; empty: they can.
    """
    names = dict.fromkeys(result.category for result in results)
    by_domain = {name: [item for item in results if item.category == name] for name in names}
    rates = {name: rate_metric("pass^1", own) for name, own in by_domain.items()}
    metrics = [rate_metric("pass^1", results, note)]
    values = [rate.value for rate in rates.values() if rate.value is not None]
    if len(names) > 1 and values:
        metrics.append(Metric("mean of domains", sum(values) / len(values), count=len(results), note=note))
    metrics += _lost(results)
    return Report(
        tuple(metrics),
        {name: (rate,) for name, rate in rates.items()} if len(names) > 1 else {},
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
        reasons=dict(Counter(item.verdict.reason for item in results if item.verdict.reason).most_common()),
    )


def _lost(results: Sequence[Result]) -> list[Metric]:
    """Return the rollouts lost to machinery and to the user, if there are any."""
    broken = sum(item.verdict.outcome is Outcome.BROKEN for item in results)
    silent = sum(item.verdict.outcome is Outcome.UNDECIDED for item in results)
    lost = (("lost to machinery", broken), ("undecided", silent))
    return [Metric(name, float(count), unit="count") for name, count in lost if count]
