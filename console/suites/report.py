"""Report of a run: the suite's own report with statistics of repeats added. Pure.

Repeats are handled here for every suite, as pass@k and pass^k depend on verdicts only.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from console.core.case import Setting
from console.core.outcome import Outcome
from console.core.statistics.repeats import CaseCount, pass_k, variance_split
from console.core.tally import RunFold
from console.suites.headline import headlines_of
from console.suites.metrics import has_passed, interval_metric
from console.suites.suite import CaseRepeats, Metric, Repeats, Report, Result, Suite

LETTERS = {
    Outcome.PASSED: "P",
    Outcome.FAILED: "F",
    Outcome.BROKEN: "!",
    Outcome.UNDECIDED: "?",
    Outcome.NOT_RUN: "-",
}
"""Letter of each outcome in `CaseRepeats.rollouts`."""


def results_of(fold: RunFold) -> list[Result]:
    """Return the results of all rollouts that have ended, by case in order of first start.

    Of verdict details, they keep only the numbers.
    """
    results = [
        Result(
            case,
            fold.category_of[case],
            rollout,
            ended.verdict,
            fold.cases.cluster(case),
            case not in fold.ungraded,
        )
        for (case, rollout), ended in fold.latest.items()
        if case in fold.category_of
    ]
    order = {case: number for number, case in enumerate(fold.category_of)}
    return sorted(results, key=lambda result: order[result.case_id])


def build_report(suite: Suite, results: Sequence[Result], setting: Setting) -> Report:
    """Return the suite's report of a run, with statistics of repeats unless the suite has a headline score."""
    headlines = headlines_of(suite.headline)
    report = _in_one_form(_with_headlines_first(suite.report(results, setting), headlines))
    repeats = None if headlines[0] else repeats_of(results)
    return report if repeats is None or report.fault else replace(report, repeats=repeats)


def _with_headlines_first(report: Report, headlines: Sequence[str]) -> Report:
    """Return the report with the metrics of the headlines before the others, which suites may list anywhere.

    The pass rate is a report's first metric.
    """
    if report.fault or not report.metrics or not any(headlines):
        return report
    names = [name or report.metrics[0].name for name in headlines]

    def in_order(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
        return tuple(
            sorted(metrics, key=lambda metric: names.index(metric.name) if metric.name in names else len(names))
        )

    categories = {name: in_order(metrics) for name, metrics in report.categories.items()}
    return replace(report, metrics=in_order(report.metrics), categories=categories)


def _in_one_form(report: Report) -> Report:
    """Return the report with means in the categories if the overall number is a mean, even if all values are 0 or 1."""
    means = {metric.name for metric in report.metrics if metric.unit == "mean"}

    def as_mean(metric: Metric) -> Metric:
        return replace(metric, unit="mean") if metric.unit == "rate" and metric.name in means else metric

    categories = {name: tuple(map(as_mean, metrics)) for name, metrics in report.categories.items()}
    return replace(report, categories=categories) if categories != report.categories else report


def repeats_of(results: Iterable[Result]) -> Repeats | None:
    """Return statistics of repeats, or None if no case was graded twice."""
    by_case: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.graded:
            by_case[result.category, result.case_id].append(result)
    listed = [_case_repeats(of_case) for of_case in by_case.values()]
    counts: dict[int, dict[int, int]] = {}
    for case in listed:
        by_passed = counts.setdefault(case.graded, {})
        by_passed[case.passed] = by_passed.get(case.passed, 0) + 1
    if max(counts, default=0) < 2:
        return None
    split = variance_split({graded: by_passed for graded, by_passed in counts.items() if graded})
    clusters = {name: of_case[0].cluster for name, of_case in by_case.items()}
    named = zip(clusters.items(), listed, strict=True)
    cases = [
        CaseCount(case.case, case.passed, case.graded, category, cluster) for ((category, _), cluster), case in named
    ]
    metrics = [
        interval_metric(name, interval)
        for item in pass_k(cases)
        for name, interval in ((f"pass@{item.k}", item.at), (f"pass^{item.k}", item.all))
    ]
    return Repeats(
        metrics=tuple(metrics),
        flaky=tuple(case for case in listed if 0 < case.passed < case.graded),
        within_share=None if split is None else split.within_share,
        error=0.0 if split is None else split.standard_error(),
        error_of_twice_the_cases=0.0 if split is None else split.standard_error(cases=2),
        error_of_twice_the_rollouts=0.0 if split is None else split.standard_error(rollouts=2),
    )


def _case_repeats(of_case: Sequence[Result]) -> CaseRepeats:
    ordered = sorted(of_case, key=lambda result: result.rollout)
    graded = [result for result in ordered if result.verdict.outcome.is_graded]
    return CaseRepeats(
        case=ordered[0].case_id,
        category=ordered[0].category,
        passed=int(sum(map(has_passed, graded))),
        graded=len(graded),
        rollouts="".join(LETTERS[result.verdict.outcome] for result in ordered),
    )


def split_words(repeats: Repeats) -> str:
    """Describe the sources of variance and the gain from more cases or rollouts; empty if unknown."""
    if repeats.within_share is None or not repeats.error:
        return ""
    errors = (repeats.error, repeats.error_of_twice_the_cases, repeats.error_of_twice_the_rollouts)
    now, cases, rollouts = (f"{value * 100:.1f}" for value in errors)
    return (
        f"{repeats.within_share:.0%} of the variance of a rollout is sampling, the rest differences between cases; "
        f"standard error {now} points, {cases} with twice the cases, {rollouts} with twice the rollouts"
    )
