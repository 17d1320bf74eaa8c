"""From finished loops to the benchmark's numbers. Pure.

The total is the sum over questions of the mean reward over rollouts, which with one rollout is the original's total.
Intervals come from the spread between rollouts of the same question; with one rollout there is none to see.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from console.core.outcome import Outcome
from console.suites.aidanbench.spread import Spread, spread_of_sum
from console.suites.suite import Metric, Report, Result

_MEANS = (
    "aidanbench_score",
    "avg_coherence",
    "avg_embedding_novelty",
    "sum_embedding_novelty",
    "avg_llm_novelty",
    "format_reward",
)


def report(results: Sequence[Result], reward_mode: str, note: str) -> Report:
    """Aggregate.

    Args:
        results: finished rollouts; only graded ones enter the numbers.
        reward_mode: `count` or `novelty_sum`.
        note: why totals are or are not comparable.
    """
    graded = [result for result in results if result.verdict.outcome.is_graded]
    unit = "count" if reward_mode == "count" else "score"
    missing = len({result.case_id for result in results} - {result.case_id for result in graded})
    notes = "; ".join(part for part in (note, f"{missing} questions have no graded loop" if missing else "") if part)
    return Report(
        metrics=(*_totals(graded, unit, notes), *_means(graded)),
        categories=_categories(graded, unit),
        outcomes={outcome: count for outcome, count in _outcomes(results).items() if count},
        cases={case: (_question_mean(of_case, unit),) for case, of_case in _by_case(graded).items()},
        reasons=dict(Counter(result.verdict.reason or "" for result in results).most_common()),
    )


def _totals(graded: Sequence[Result], unit: str, note: str) -> tuple[Metric, Metric]:
    """Return the sum over questions and the mean for one loop."""
    rewards = {case: _rewards(of_case) for case, of_case in _by_case(graded).items()}
    if not rewards:
        return Metric("total", None, unit=unit, note=note), Metric("mean", None, unit="mean")
    spread = spread_of_sum(list(rewards.values()))
    return (
        Metric("total", spread.value, spread.low, spread.high, len(graded), unit, note),
        _mean_per_question(spread, len(rewards), len(graded)),
    )


def _mean_per_question(spread: Spread, questions: int, count: int) -> Metric:
    low = None if spread.low is None else spread.low / questions
    high = None if spread.high is None else spread.high / questions
    return Metric("mean", spread.value / questions, low, high, count, "mean", "per question")


def _means(graded: Sequence[Result]) -> list[Metric]:
    out: list[Metric] = []
    for name in _MEANS:
        values = [result.verdict.scores[name] for result in graded if name in result.verdict.scores]
        if values:
            out.append(Metric(name, math.fsum(values) / len(values), count=len(values), unit="mean"))
    return out


def _categories(graded: Sequence[Result], unit: str) -> dict[str, tuple[Metric, ...]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in graded:
        groups[result.category].append(result)
    return {name: _totals(of_category, unit, "") for name, of_category in groups.items()}


def _question_mean(results: Sequence[Result], unit: str) -> Metric:
    spread = spread_of_sum([_rewards(results)])
    return Metric("reward", spread.value, spread.low, spread.high, len(results), unit)


def _by_case(graded: Sequence[Result]) -> Mapping[str, list[Result]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in graded:
        groups[result.case_id].append(result)
    return groups


def _rewards(results: Sequence[Result]) -> list[float]:
    return [result.verdict.scores.get("reward", 0.0) for result in results]


def _outcomes(results: Sequence[Result]) -> Counter[Outcome]:
    return Counter(result.verdict.outcome for result in results)
