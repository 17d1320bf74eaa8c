"""Totals of a run.

The total is the sum over questions of the mean reward over rollouts; with one rollout it equals the original's total.
Intervals are computed from the spread between rollouts of a question, so a single rollout gives none.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, mean_interval, repeats_interval
from console.suites.metrics import interval_metric, sample_of_results
from console.suites.suite import Metric, Report, Result

_MEANS = (
    "aidanbench_score",
    "avg_coherence",
    "avg_embedding_novelty",
    "sum_embedding_novelty",
    "avg_llm_novelty",
    "format_reward",
)


_REWARDS = {"count": "aidanbench_score", "novelty_sum": "sum_embedding_novelty"}
"""The score used as the reward, by reward mode."""


def report(results: Sequence[Result], reward_mode: str, note: str) -> Report:
    """Return the totals, means and intervals of a run.

    Args:
        results: finished rollouts; only graded ones count.
        reward_mode: `count` or `novelty_sum`.
        note: why totals are or are not comparable.
    """
    graded = [result for result in results if result.verdict.outcome.is_graded]
    unit = "count" if reward_mode == "count" else "score"
    missing = len({result.case_id for result in results} - {result.case_id for result in graded})
    notes = "; ".join(part for part in (note, f"{missing} questions have no graded loop" if missing else "") if part)
    return Report(
        metrics=(*_totals(graded, unit, notes), *_means(graded, omit=_REWARDS.get(reward_mode, ""))),
        categories=_categories(graded, unit),
        outcomes={outcome: count for outcome, count in _outcomes(results).items() if count},
        cases={case: (_question_mean(of_case, unit),) for case, of_case in _by_case(graded).items()},
        reasons=dict(Counter(result.verdict.reason or "" for result in results).most_common()),
    )


def _totals(graded: Sequence[Result], unit: str, note: str) -> tuple[Metric, Metric]:
    """Return the sum over questions and the mean per loop."""
    rewards = {case: _rewards(of_case) for case, of_case in _by_case(graded).items()}
    if not rewards:
        return Metric("total", None, unit=unit, note=note), Metric("mean", None, unit="mean")
    total = repeats_interval(list(rewards.values()))
    return (
        _metric("total", total, unit=unit, note=note),
        _metric("mean", total, unit="mean", note="per question", questions=len(rewards)),
    )


def _metric(name: str, interval: Interval, *, unit: str, note: str = "", questions: int = 1) -> Metric:
    """Return a metric for these questions; its interval covers repeats of the same questions."""
    low, high = (None if bound is None else bound / questions for bound in (interval.low, interval.high))
    made = interval_metric(name, interval, unit=unit, note=note)
    return replace(made, value=interval.value / questions, low=low, high=high)


def _means(graded: Sequence[Result], omit: str) -> list[Metric]:
    """Return the mean of every score except the reward, which is already in `mean` with a different interval."""
    out: list[Metric] = []
    for name in (name for name in _MEANS if name != omit):
        scored = [result for result in graded if name in result.verdict.scores]
        if scored:
            out.append(_score_metric(name, scored))
    return out


def _score_metric(name: str, scored: Sequence[Result]) -> Metric:
    """Return the mean of a score over questions; with repeats, its interval covers similar questions.

    If no score is negative, the interval begins at 0 or above.
    """
    sample = sample_of_results(scored, lambda result: result.verdict.scores[name])
    interval = mean_interval(sample)
    if interval is None or sample.is_plain:
        return Metric(name, sample.mean, count=sample.rollouts, unit="mean")
    made = interval_metric(name, interval, unit="mean")
    signed = any(result.verdict.scores[name] < 0 for result in scored)
    return made if signed or made.low is None else replace(made, low=max(0.0, made.low))


def _categories(graded: Sequence[Result], unit: str) -> dict[str, tuple[Metric, ...]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in graded:
        groups[result.category].append(result)
    return {name: _totals(of_category, unit, "") for name, of_category in groups.items()}


def _question_mean(results: Sequence[Result], unit: str) -> Metric:
    return _metric("reward", repeats_interval([_rewards(results)]), unit=unit)


def _by_case(graded: Sequence[Result]) -> Mapping[str, list[Result]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in graded:
        groups[result.case_id].append(result)
    return groups


def _rewards(results: Sequence[Result]) -> list[float]:
    return [result.verdict.scores.get("reward", 0.0) for result in results]


def _outcomes(results: Sequence[Result]) -> Counter[Outcome]:
    return Counter(result.verdict.outcome for result in results)
