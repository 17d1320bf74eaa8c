"""The report of a run. Pure."""

from collections import Counter
from collections.abc import Sequence

from console.benchmarks.tau2.rules.blame import PARTIES, USERS
from console.core.outcome import BLAME_PREFIX, Outcome
from console.suites.metrics import rate_metric
from console.suites.suite import Metric, Report, Result


def report(results: Sequence[Result], note: str) -> Report:
    """Report the pass rate of each domain and their mean, as on the leaderboard.

    Args:
        results: all rollouts.
        note: why results cannot be compared with published ones; empty if they can.
    """
    names = dict.fromkeys(result.category for result in results)
    by_domain = {name: [item for item in results if item.category == name] for name in names}
    rates = {name: rate_metric("pass^1", own) for name, own in by_domain.items()}
    metrics = [rate_metric("pass^1", results, note)]
    values = [rate.value for rate in rates.values() if rate.value is not None]
    if len(names) > 1 and values:
        metrics.append(Metric("mean of domains", sum(values) / len(values), count=len(results), note=note))
    metrics += _blamed(results)
    return Report(
        tuple(metrics),
        {name: (rate,) for name, rate in rates.items()} if len(names) > 1 else {},
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
        reasons=dict(Counter(item.verdict.reason for item in results if item.verdict.reason).most_common()),
    )


def _blamed(results: Sequence[Result]) -> list[Metric]:
    """Return the share of each party in the failures, and the pass rate without failures caused by users."""
    failed = [item for item in results if item.verdict.outcome is Outcome.FAILED]
    graded = [item for item in results if item.verdict.outcome.is_graded]
    counts = {party: sum(f"{BLAME_PREFIX}{party}" in item.verdict.scores for item in failed) for party in PARTIES}
    shares = [
        Metric(f"{BLAME_PREFIX}{party}", count / len(failed), count=count, note="share of failures, by rules")
        for party, count in counts.items()
        if count
    ]
    if not counts[USERS]:
        return shares
    without = [item for item in graded if f"{BLAME_PREFIX}{USERS}" not in item.verdict.scores]
    return [*shares, rate_metric("pass^1 without user faults", without, "without rollouts failed by the user")]
