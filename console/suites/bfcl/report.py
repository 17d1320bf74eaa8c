"""From finished rollouts to the official numbers, with an interval beside every rate and missing parts said. Pure.

Ours count what the model was graded on; a failed inference is no answer. The official tool judges the text of the
failure instead (right for irrelevance, wrong elsewhere): where that gives another number, it stands beside ours.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from console.core.outcome import Outcome
from console.suites.bfcl import categories as names
from console.suites.bfcl.aggregate import NUMBER_WITH_GAPS, PARTS, Accuracy, Standing, gaps, interval, spread
from console.suites.rates import rate, wilson
from console.suites.suite import Metric, Report, Result

_OTHER_DATA = "not comparable with published numbers: other data"


def report(results: Sequence[Result], entries: Mapping[str, int], *, comparable: bool) -> Report:
    """Aggregate.

    Args:
        results: finished rollouts; those of memory prerequisites are left out.
        entries: how many entries each category of the dataset has.
        comparable: whether the data and wording are the official ones.
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
    """Return accuracy over everything and the official sums that were touched; Overall first when it is complete."""
    accuracy = _accuracy("accuracy", [result for name in present for result in by_category[name]])
    sensitivity = _sensitivity(by_category.get(names.FORMAT_SENSITIVITY, ()))
    scoring = [name for name in names.SCORING if name in by_category]
    if len(scoring) < 2:
        return (accuracy, *sensitivity)
    whole = {name for name in scoring if _played(by_category[name]) >= entries.get(name, 0)}
    official = {name: _official(by_category.get(name, ()), entries.get(name, 0)) for name in names.SCORING}
    overall, *groups = (
        _sum(name, part, official, whole) for name, part in Standing(official.__getitem__).sums.items() if part.touched
    )
    if not comparable:
        overall = replace(overall, note="; ".join(filter(None, (overall.note, _OTHER_DATA))))
    first = (overall, accuracy) if whole.issuperset(PARTS["overall"]) else (accuracy, overall)
    return (*first, *groups, *sensitivity)


def _sum(name: str, part: Accuracy, official: Mapping[str, Accuracy], whole: Collection[str]) -> Metric:
    """Return a sum as the official tables show it, with its interval and what it lacks."""
    note = gaps(name, whole)
    count = sum(official[category].entries for category in PARTS[name] if official[category].is_known)
    if not part.is_known and name not in NUMBER_WITH_GAPS:
        return Metric(name, None, count=count, note=note)
    bounds = {
        category: wilson(accuracy.value * accuracy.entries, accuracy.entries)
        for category, accuracy in official.items()
        if accuracy.is_known
    }
    low, high = interval(name, official.__getitem__, bounds)
    return Metric(name, part.value, low, high, count, note=note)


def _played(results: Sequence[Result]) -> int:
    return len({result.case_id for result in results})


def _category(name: str, results: Sequence[Result], entries: int) -> tuple[Metric, ...]:
    played = _played(results)
    note = f"{played} of {entries} entries" if played < entries else ""
    out = [_accuracy("accuracy", results, note)]
    official = _official(results, entries)
    if abs(official.value - (out[0].value or 0.0)) > 1e-12:
        out.append(Metric("official", official.value, count=len(results), note="failed inferences judged as answers"))
    failed = sum(result.verdict.outcome is Outcome.BROKEN for result in results)
    if failed:
        out.append(Metric("inference_errors", failed, count=len(results), unit="count"))
    return (*out, *(_sensitivity(results) if name == names.FORMAT_SENSITIVITY else ()))


def _accuracy(name: str, results: Sequence[Result], note: str = "") -> Metric:
    graded = [result for result in results if result.verdict.outcome.is_graded]
    return rate(name, sum(result.verdict.outcome is Outcome.PASSED for result in graded), len(graded), note)


def _official(results: Sequence[Result], entries: int) -> Accuracy:
    """Return the official accuracy of a category; without results it is unknown, with the dataset's weight."""
    finished = [result for result in results if result.verdict.outcome is not Outcome.NOT_RUN]
    if not finished:
        return Accuracy(0.0, entries, is_known=False, touched=False)
    return Accuracy(sum(map(is_officially_right, finished)) / len(finished), len(finished))


def is_officially_right(result: Result) -> bool:
    """Whether the official scorer would count a rollout as right, a failed inference included."""
    verdict = result.verdict
    if verdict.official is not None:
        return verdict.official == Outcome.PASSED.value
    if verdict.outcome is Outcome.BROKEN:
        return "irrelevance" in result.category
    return verdict.outcome is Outcome.PASSED


def _sensitivity(results: Sequence[Result]) -> tuple[Metric, ...]:
    """Return the spread over prompt variations, in percent as the official tool gives it."""
    by_config: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_config[result.case_id.split(":")[1]].append(result)
    if not by_config:
        return ()
    accuracies = {config: _official(of_config, 0).value for config, of_config in by_config.items()}
    return tuple(Metric(name, value, count=len(by_config), unit="score") for name, value in spread(accuracies).items())
