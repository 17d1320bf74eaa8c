"""Report of a BFCL run by the official formulas, with intervals and notes on missing parts. Pure.

Our accuracy excludes failed inferences. The official scorer judges their error text as an answer (correct for
irrelevance, else wrong); if that gives a different number, both are reported.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.aggregate import PARTS, Accuracy, Standing, gaps, interval, missing, spread
from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Sample
from console.suites.metrics import interval_metric, rate_metric, sample_of_results
from console.suites.suite import Metric, Report, Result

_OTHER_DATA = "not comparable with published numbers: other data"


def report(results: Sequence[Result], entries: Mapping[str, int], *, comparable: bool) -> Report:
    """Aggregate a run.

    Args:
        results: finished rollouts; memory prerequisites are ignored.
        entries: number of entries by category of the dataset.
        comparable: data and wording are official.
    """
    scored = [result for result in results if not names.is_prerequisite(result.case_id)]
    by_category: dict[str, list[Result]] = defaultdict(list)
    for result in scored:
        by_category[result.category].append(result)
    present = [name for name in names.ALL if name in by_category]
    return Report(
        metrics=_headline(by_category, present, entries, comparable=comparable),
        categories={name: _category(name, by_category[name], entries.get(name, 0)) for name in present},
        outcomes=dict(Counter(result.verdict.outcome for result in scored)),
        reasons=dict(Counter(result.verdict.reason for result in scored if result.verdict.reason).most_common()),
    )


def _headline(
    by_category: Mapping[str, Sequence[Result]], present: Sequence[str], entries: Mapping[str, int], *, comparable: bool
) -> tuple[Metric, ...]:
    """Return the accuracy and the official aggregates with results; Overall comes first if it is complete."""
    accuracy = rate_metric("accuracy", [result for name in present for result in by_category[name]])
    sensitivity = _sensitivity(by_category.get(names.FORMAT_SENSITIVITY, ()))
    scoring = [name for name in names.SCORING if name in by_category]
    if len(scoring) < 2:
        return (accuracy, *sensitivity)
    whole = {name for name in scoring if _played(by_category[name]) >= entries.get(name, 0)}
    official = {name: _official(by_category.get(name, ()), entries.get(name, 0)) for name in names.SCORING}
    intervals = {name: _official_interval(by_category[name]) for name in names.SCORING if official[name].is_known}
    overall, *groups = (
        _sum(name, part, official, intervals, whole)
        for name, part in Standing(official.__getitem__).sums.items()
        if part.touched
    )
    if not comparable and overall.value is not None:
        overall = replace(overall, note="; ".join(filter(None, (overall.note, _OTHER_DATA))))
    first = (overall, accuracy) if whole.issuperset(PARTS["overall"]) else (accuracy, overall)
    return (*first, *groups, *sensitivity)


def _sum(
    name: str,
    part: Accuracy,
    official: Mapping[str, Accuracy],
    intervals: Mapping[str, Interval],
    whole: Collection[str],
) -> Metric:
    """Return an aggregate with its interval, or without a number if categories are missing; a note says which."""
    if not part.is_known:
        played = [intervals[category] for category in PARTS[name] if category in intervals]
        return Metric(name, None, count=sum(part.rollouts for part in played), note=missing(name, intervals))
    return interval_metric(name, interval(name, official.__getitem__, intervals), note=gaps(name, whole))


def _played(results: Sequence[Result]) -> int:
    return len({result.case_id for result in results})


def _category(name: str, results: Sequence[Result], entries: int) -> tuple[Metric, ...]:
    played = _played(results)
    note = f"{played} of {entries} entries" if played < entries else ""
    out = [rate_metric("accuracy", results, note)]
    official = _official(results, entries)
    if abs(official.value - (out[0].value or 0.0)) > 1e-12:
        out.append(Metric("official", official.value, count=len(results), note="failed inferences judged as answers"))
    failed = sum(result.verdict.outcome is Outcome.BROKEN for result in results)
    if failed:
        out.append(Metric("inference_errors", failed, count=len(results), unit="count"))
    return (*out, *(_sensitivity(results) if name == names.FORMAT_SENSITIVITY else ()))


def _official(results: Sequence[Result], entries: int) -> Accuracy:
    """Return the official accuracy of a category; if there are no results, an unknown one weighted by `entries`."""
    sample = _official_sample(results)
    if not sample.cases:
        return Accuracy(0.0, entries, is_known=False, touched=False)
    return Accuracy(sample.mean, sample.cases)


def _official_sample(results: Sequence[Result]) -> Sample:
    finished = [result for result in results if result.verdict.outcome is not Outcome.NOT_RUN]
    return sample_of_results(finished, is_officially_right)


def _official_interval(results: Sequence[Result]) -> Interval:
    interval_or_none = rate_interval(_official_sample(results))
    assert interval_or_none is not None  # called only for categories with results
    return interval_or_none


def is_officially_right(result: Result) -> bool:
    """Return whether the official scorer counts a rollout as correct, including failed inferences."""
    verdict = result.verdict
    if verdict.official is not None:
        return verdict.official == Outcome.PASSED.value
    if verdict.outcome is Outcome.BROKEN:
        return "irrelevance" in result.category
    return verdict.outcome is Outcome.PASSED


def _sensitivity(results: Sequence[Result]) -> tuple[Metric, ...]:
    """Return the spread over prompt variations, in percent as in the official code."""
    by_config: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_config[result.case_id.split(":")[1]].append(result)
    if not by_config:
        return ()
    accuracies = {config: _official(of_config, 0).value for config, of_config in by_config.items()}
    return tuple(Metric(name, value, count=len(by_config), unit="score") for name, value in spread(accuracies).items())
