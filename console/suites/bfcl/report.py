"""From finished rollouts to the official numbers, with an interval beside every rate and missing parts said. Pure.

Ours count what the model was graded on; a failed inference is no answer. The official tool judges the text of the
failure instead (right for irrelevance, wrong elsewhere): where that gives another number, it stands beside ours.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from console.core.outcome import Outcome
from console.suites.bfcl import categories as names
from console.suites.bfcl.aggregate import Accuracy, Standing, spread
from console.suites.rates import rate
from console.suites.suite import Metric, Report, Result


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
    """Return accuracy over everything, then the official parts that were touched, Overall first when it is complete."""
    accuracy = _accuracy("accuracy", [result for name in present for result in by_category[name]])
    sensitivity = _sensitivity(by_category.get(names.FORMAT_SENSITIVITY, ()))
    scoring = [name for name in names.SCORING if name in by_category]
    if len(scoring) < 2:
        return (accuracy, *sensitivity)
    standing = Standing(lambda name: _official(by_category.get(name, ()), entries.get(name, 0)))
    groups = [_group(name, part) for name, part in standing.groups.items() if part.touched]
    if any(name not in entries for name in names.SCORING):
        return (accuracy, *groups, *sensitivity)
    overall = _overall(standing, len(names.SCORING) - len(scoring), comparable=comparable)
    first = (overall, accuracy) if overall.value is not None else (accuracy, overall)
    return (*first, *groups, *sensitivity)


def _group(name: str, part: Accuracy) -> Metric:
    return Metric(name, part.value if part.known else None, count=part.entries, note="" if part.known else "incomplete")


def _overall(standing: Standing, missing: int, *, comparable: bool) -> Metric:
    """Return the official number; with parts missing it is not known, and what it would be is said."""
    part = standing.overall
    if missing:
        note = f"{missing} of {len(names.SCORING)} scoring categories are missing; counted as 0 it is {part.value:.2%}"
        return Metric("overall", None, note=note)
    note = "" if comparable else "not comparable with published numbers: other data"
    return Metric("overall", part.value, count=part.entries, note=note)


def _category(name: str, results: Sequence[Result], entries: int) -> tuple[Metric, ...]:
    played = len({result.case_id for result in results})
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
        return Accuracy(0.0, entries, known=False, touched=False)
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
    accuracies = {config: _official(found, 0).value for config, found in by_config.items()}
    return tuple(Metric(name, value, count=len(by_config), unit="score") for name, value in spread(accuracies).items())
