"""Metrics of a run and of each scenario: the official evaluator's sums over turns, and additions.

The headline is the share of successful turns over all graded conversations. Broken conversations are excluded; the
peer's `missing_calls`, which counts function names, is shown next to the true number of missing calls.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, cast

from msgspec.structs import replace

from console.benchmarks.cavebench.rules.score import Totals
from console.core.statistics.intervals import Part, ratio_interval
from console.suites.metrics import interval_metric, rate_metric
from console.suites.suite import Metric, Report, Result

_COUNTS = (
    ("missing calls", "missing_calls", "as cave-bench counts: functions never called"),
    ("wrong argument values", "wrong_argument_values", ""),
    ("wrong argument types", "wrong_argument_types", ""),
    ("missing arguments", "missing_arguments", ""),
    ("missing variable reads", "missing_variable_reads", ""),
    ("missing variable writes", "missing_variable_writes", ""),
    ("total steps", "total_steps", ""),
    ("total tokens", "total_tokens", ""),
)


def build_report(results: Sequence[Result]) -> Report:
    """Return the metrics of finished rollouts."""
    scenarios = sorted({result.category for result in results})
    conversations: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.verdict.outcome.is_graded:
            conversations[result.case_id].append(result)
    return Report(
        metrics=_metrics(results),
        categories={name: _brief([item for item in results if item.category == name]) for name in scenarios},
        cases={name: _conversation(items) for name, items in conversations.items()},
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
        reasons=dict(Counter(_reasons(results)).most_common()),
    )


def totals_of(results: Iterable[Result]) -> Totals:
    """Sum the turns of graded conversations."""
    totals = Totals()
    for result in results:
        if result.verdict.outcome.is_graded:
            for turn in cast("list[dict[str, Any]]", result.verdict.detail.get("turns") or []):
                totals.add_turn(
                    bool(turn["success"]),
                    turn["metrics"],
                    turn["expected_calls"],
                    turn["actual_calls"],
                    turn["missing_required"],
                )
    return totals


def _metrics(results: Sequence[Result]) -> tuple[Metric, ...]:
    totals = totals_of(results)
    sums = totals.metrics()
    graded = [result for result in results if result.verdict.outcome.is_graded]
    turns = totals.turns
    return (
        _success_rate(graded, sums["success_rate"], turns),
        _conversations_passed(graded),
        *(Metric(name, sums[key], count=turns, unit="count", note=note) for name, key, note in _COUNTS[:1]),
        Metric("missing calls (true)", totals.missing_required, count=turns, unit="count", note="required, unanswered"),
        *(Metric(name, sums[key], count=turns, unit="count", note=note) for name, key, note in _COUNTS[1:]),
        Metric("steps per turn", sums["total_steps"] / turns if turns else None, count=turns, unit="mean"),
    )


def _success_rate(graded: Sequence[Result], rate: float, turns: int) -> Metric:
    """Return the share of successful turns; turns of a conversation, and of a scenario, form clusters."""
    if not turns:
        return Metric("success rate", None, count=turns, note="turns")
    parts = [Part(result.case_id, *_turns(result), result.cluster) for result in graded]
    interval = ratio_interval(parts) if _shows_spread(graded) else None
    if interval is None or interval.low is None:
        return Metric("success rate", rate, count=turns, note="turns")
    return replace(interval_metric("success rate", interval, note="turns"), value=rate, count=turns)


def _turns(result: Result) -> tuple[float, float]:
    turns = cast("list[dict[str, Any]]", result.verdict.detail.get("turns") or [])
    return float(sum(bool(turn["success"]) for turn in turns)), float(len(turns))


def _conversations_passed(graded: Sequence[Result]) -> Metric:
    name, note = "conversations passed", "all turns succeeded"
    made = rate_metric(name, graded, note)
    return made if _shows_spread(graded) else Metric(name, made.value, count=len(graded), note=note)


def _shows_spread(graded: Sequence[Result]) -> bool:
    """Return True if scenarios or repeats are recorded; older runs lack them and have no interval."""
    return any(result.cluster or result.rollout for result in graded)


def _brief(results: Sequence[Result]) -> tuple[Metric, ...]:
    """Return the metrics of a part, omitting counts of zero; the two counts of missing calls stay together."""
    metrics = _metrics(results)
    missing = any(metric.value for metric in metrics if metric.name.startswith("missing calls"))
    return tuple(
        metric
        for metric in metrics
        if metric.unit != "count" or metric.value or (missing and metric.name.startswith("missing calls"))
    )


def _conversation(results: Sequence[Result]) -> tuple[Metric, ...]:
    """Return a conversation's metrics over all its rollouts."""
    return tuple(metric for metric in _brief(results) if metric.name != "conversations passed")


def _reasons(results: Sequence[Result]) -> Iterable[str]:
    for result in results:
        if result.verdict.reason:
            yield result.verdict.reason
