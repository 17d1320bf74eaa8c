"""Report of a dialogue run: accuracy, mean grades, and paired comparison of prompt variants over common rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from console.benchmarks.dialogue.rules.choices import is_of_letter
from console.benchmarks.dialogue.rules.instructions import ASKED, FOLLOWED, LOOSELY
from console.benchmarks.dialogue.rules.letter_choice import calibration_metrics
from console.benchmarks.dialogue.rules.script import Variants, split_variant
from console.core.outcome import Outcome
from console.core.statistics.intervals import Part, ratio_interval
from console.core.statistics.paired import paired_observations
from console.core.statistics.sample import Observation
from console.suites.metrics import interval_metric, rate_metric, score_metrics
from console.suites.suite import Metric, Report, Result

Scales = Mapping[str, tuple[float, float]]
"""Lowest and highest value by score."""
_NO_UNITS: Mapping[str, str] = MappingProxyType({})
MINUS = " − "
"""Separator in the name of a difference between two variants."""


def report(
    results: Sequence[Result], variants: Variants | None, scales: Scales, units: Mapping[str, str] = _NO_UNITS
) -> Report:
    """Aggregate finished rollouts, and compare variants if there are any."""
    by_category: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_category[result.category].append(result)
    return Report(
        metrics=(
            *_metrics(results, scales, units),
            *calibration_metrics(results),
            *(_variant_metrics(results, list(variants.texts)) if variants else ()),
        ),
        categories={name: _metrics(items, scales, units) for name, items in by_category.items()},
        outcomes=dict(Counter(result.verdict.outcome for result in results)),
        reasons=dict(Counter(result.verdict.reason for result in results if result.verdict.reason).most_common()),
    )


def _metrics(results: Sequence[Result], scales: Scales, units: Mapping[str, str]) -> tuple[Metric, ...]:
    """Return the accuracy and the mean of each score, with intervals."""
    scored = _by_letter(score_metrics(results, scales, units))
    return (rate_metric("accuracy", results), *scored, *_pooled(results))


def _by_letter(metrics: Sequence[Metric]) -> Sequence[Metric]:
    """Return metrics with those of letters in the order of the alphabet, whichever letter came first in the run."""
    lettered = iter(sorted((metric for metric in metrics if is_of_letter(metric.name)), key=lambda metric: metric.name))
    return [next(lettered) if is_of_letter(metric.name) else metric for metric in metrics]


def _pooled(results: Sequence[Result]) -> Iterable[Metric]:
    """Yield the share of followed instructions, strict and loose, weighting all instructions equally."""
    for name in (FOLLOWED, LOOSELY):
        parts = [
            Part(result.case_id, result.verdict.scores[name] * asked, asked, result.cluster)
            for result in results
            if (asked := result.verdict.detail.get(ASKED)) and name in result.verdict.scores
        ]
        interval = ratio_interval(parts)
        if interval is not None:
            yield interval_metric(f"{name}, of all", interval)


def _variant_metrics(results: Sequence[Result], names: Sequence[str]) -> Iterable[Metric]:
    """Yield the accuracy of each variant, and its difference from the first."""
    by_variant: dict[str, list[Result]] = {name: [] for name in names}
    for result in results:
        by_variant.setdefault(split_variant(result.case_id, names)[1], []).append(result)
    for name in names:
        yield rate_metric(f"{name}: accuracy", by_variant[name])
    for name in names[1:]:
        yield _difference(names[0], name, by_variant)


def _difference(first: str, second: str, by_variant: Mapping[str, Sequence[Result]]) -> Metric:
    names = (first, second)
    graded = {name: [result for result in by_variant[name] if result.verdict.outcome.is_graded] for name in names}
    passed = {name: {_place(result, names): result for result in graded[name]} for name in names}
    changes = [
        Observation(row, _passed(passed[second][row, rollout]) - _passed(result), result.category, result.cluster)
        for (row, rollout), result in passed[first].items()
        if (row, rollout) in passed[second]
    ]
    difference = paired_observations(changes, largest=1.0)
    return Metric(
        f"{second}{MINUS}{first}",
        difference.value if changes else None,
        difference.low,
        difference.high,
        len(changes),
        note="; ".join(filter(None, (difference.words, difference.caution))),
        cases=difference.cases,
        rollouts=difference.rollouts,
        clusters=difference.clusters,
        method=difference.method,
    )


def _place(result: Result, names: Sequence[str]) -> tuple[str, int]:
    return split_variant(result.case_id, names)[0], result.rollout


def _passed(result: Result) -> float:
    return float(result.verdict.outcome is Outcome.PASSED)
