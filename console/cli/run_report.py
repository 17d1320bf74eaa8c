"""The report of a finished run, as text and as an exit code."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.history import History, read_history, read_overview, shown_results
from console.cli.output import Output
from console.cli.sections import show_section
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.looks import BEST, REACHED
from console.core.price import dollars
from console.core.run import Summary
from console.core.statistics.decision import Decision
from console.core.wait import slowed_by
from console.exchange.json_kind import JsonKind
from console.insight.judging import Judging, judging_of
from console.insight.looks import looks_sections, sequential_fields
from console.insight.number_format import metric_value, plural, setup_words, terms_words
from console.insight.report import outcome_counts, reason_sections, report_sections
from console.insight.run_number import scored_by
from console.insight.servers import server_words
from console.insight.warnings import run_warnings
from console.store.notes import Notes
from console.suites.report import build_report
from console.suites.stage import JUDGE
from console.suites.suite import Metric, Report, Suite

if TYPE_CHECKING:
    from console.engine.launch import Ending
    from console.engine.plan import PreparedRun
    from console.exchange.score_columns import ScoreColumns

RUN = JsonKind(
    "run",
    "show, run, resume, retry, merge, judge",
    "A run with its counts and its suite's report. `run` writes one for each run it plays.",
    {
        "run": "its name",
        "folder": "its path",
        "summary": "state, counts, tokens, cost",
        "report": "metrics by the suite's formula, with intervals; null if the suite is missing",
        "sequential": "optional: for a run with --until, its looks, their decision, and the rollouts not played",
        "corrected": "optional, of `show`: scores as graded, without contested cases, with corrected keys, "
        "corrected by people's labels",
        "labels": "optional: a model's opinions on the causes of failures; not results",
    },
    is_stream=True,
)

_DECIDED = {
    Decision.WORSE: Exit.BELOW,
    Decision.NOT_WORSE: Exit.OK,
    Decision.CANNOT_TELL: Exit.INCONCLUSIVE,
    REACHED: Exit.OK,
    BEST: Exit.OK,
}
_SIGNALS = {1: Exit.HANGUP, 2: Exit.INTERRUPTED, 15: Exit.TERMINATED}


def exit_code(summary: Summary, report: Report | None, fail_under: float | None, signal: int | None = None) -> Exit:
    """Return the exit code of a finished run; the first that applies: signal, cap, inconclusive, below, ok."""
    if signal is not None and signal in _SIGNALS:
        return _SIGNALS[signal]
    if summary.state == "budget":
        return Exit.BUDGET
    if summary.decision in _DECIDED and (summary.state == "decided" or summary.looks[-1].is_last):
        is_race = bool(summary.looks[-1].standings)  # losing is no error there
        decided = Exit.OK if is_race and summary.decision == Decision.WORSE else _DECIDED[summary.decision]
        if decided is not Exit.OK:
            return decided
    elif summary.tally.graded + summary.tally.setup < summary.planned:
        return Exit.INCONCLUSIVE
    if fail_under is not None and report is not None:
        value = report.metrics[0].value if report.metrics else None
        if value is None or scored_by(summary) in summary.partial_scores:
            return Exit.INCONCLUSIVE
        return Exit.BELOW if value < fail_under else Exit.OK
    return Exit.OK


def threshold(text: str | None, measures: Iterable[tuple[Suite, Setting]]) -> float | None:
    """Parse --fail-under: `0.8` or `80%` for rates, a plain number for other scores.

    Args:
        text: the option's value; None if not given.
        measures: suite and setting of each run it applies to.
    """
    if text is None:
        return None
    try:
        least = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        least = math.nan
    if not math.isfinite(least):
        raise UsageError(f"{text!r} is not a number", where="--fail-under", hint="Write 0.8 or 80%.")
    for suite, setting in measures:
        metrics = build_report(suite, [], setting).metrics  # no results are needed for the unit
        is_rate = bool(metrics) and metrics[0].unit == "rate"
        if is_rate and not 0 <= least <= 1:
            message = f"{text} is out of range: the score of {suite.entry.name} is a rate from 0 to 1"
            raise UsageError(message, where="--fail-under", hint="Write 0.8 or 80%.")
        if metrics and not is_rate and text.endswith("%"):
            message = f"the score of {suite.entry.name} is not a rate but its {metrics[0].name}"
            raise UsageError(message, where="--fail-under", hint="Write a plain number.")
    return least


def report_played(output: Output, prepared: "PreparedRun", ending: "Ending", fail_under: float | None = None) -> Exit:
    """Print the report of a run that was played, and return its exit code."""
    history = read_history(ending.folder)
    report = build_report(prepared.suite, shown_results(history, prepared.suite), prepared.manifest.setting)
    show_report(output, history, report)
    return exit_code(history.summary, report, fail_under, ending.signal)


def show_report(output: Output, history: History, report: Report | None, columns: "ScoreColumns | None" = None) -> None:
    """Print the results of a run and, if given, the scores with corrected keys and with people's labels."""
    summary = history.summary
    if output.machine:
        corrected = {"corrected": columns.fields} if columns is not None else {}
        output.data(RUN, _fields(history, report) | corrected)
        return
    mark = f"  ({summary.simulated_note})" if summary.simulated else ""
    output.text(f"{summary.id}{mark}", "strong")
    output.prose(f"{summary.model} on {summary.suite_label}: {summary.state}, {_counts(summary)}")
    if source := history.manifest.versions.get("imported"):
        file = history.manifest.dataset.get("log", "")
        output.text(f"imported from {source}" + (f", {file}" if file else ""))
    if summary.message and summary.state != "decided":
        output.text(summary.message, "bad")
    if summary.servers:
        output.prose(f"served by {server_words(summary)}")
    for notice in run_warnings(summary, history.manifest):
        output.prose(notice, "warning")
    for damage in summary.damages():
        output.text(damage, "warning")
    of_looks = looks_sections(summary, history.manifest)
    for section in [*of_looks, *report_sections(report, _judging(history)), *reason_sections(summary)]:
        output.text()
        show_section(output, section)
    if columns is not None:
        from console.exchange.score_columns import columns_section  # lazy: a new run has no decided keys

        if (apart := columns_section([(summary.model, columns)])) is not None:
            output.text()
            show_section(output, apart)


def _judging(history: History) -> Judging | None:
    if JUDGE not in history.manifest.roles:
        return None
    annotations = Notes(history.folder.path).annotations()
    return judging_of(history.manifest, read_overview(history.folder).rollouts.values(), annotations)


def _fields(history: History, report: Report | None) -> dict[str, Any]:
    return {
        "run": history.manifest.id,
        "folder": str(history.folder.path),
        "summary": msgspec.to_builtins(history.summary),
        "report": msgspec.to_builtins(report) if report is not None else None,
        **sequential_fields(history.summary, history.manifest),
        **_labels(history),
    }


def _labels(history: History) -> dict[str, Any]:
    """Return the labels of failures, if a model has labeled any."""
    annotations = Notes(history.folder.path).annotations()
    labels = [
        {"case": case, "rollout": rollout, **msgspec.to_builtins(annotation.label)}
        for (case, rollout), annotation in annotations.items()
        if annotation.label is not None
    ]
    return {"labels": labels} if labels else {}


def _counts(summary: Summary) -> str:
    tally = summary.tally
    parts = [f"{count:,} {name}" for name, count in outcome_counts(summary)]
    words = ", ".join([*parts, *[setup_words(tally)] * bool(tally.setup_done)]) or "nothing was played"
    return f"{words}; {tally.input_tokens + tally.output_tokens:,} tokens{_cost(summary)}{slowed_by(tally.rate_limits)}"


def _cost(summary: Summary) -> str:
    """Return the cost as text, with the number of rollouts whose cost is unknown."""
    tally = summary.tally
    cost = f", {dollars(tally.cost_usd)}{terms_words(summary.batch_terms)}" if tally.cost_usd else ""
    if not tally.cost_unknown:
        return cost
    unknown = f"price or usage of {plural(tally.cost_unknown, 'rollout')} not known in full"
    return f"{cost} or more ({unknown})" if cost else f", cost unknown ({unknown})"


def metric_words(metric: Metric) -> str:
    """Return a metric as text: `success rate 75.00%`."""
    return f"{metric.name} {metric_value(metric.value, metric.unit)}"
