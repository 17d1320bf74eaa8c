"""The report of a finished run, as text and as an exit code."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.history import History
from console.cli.output import Output, terminal_width
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.run import Summary
from console.exchange.json_kind import JsonKind
from console.insight.number_format import metric_bounds, metric_value, plural
from console.insight.reasons import counts_in_words
from console.insight.warnings import run_warnings
from console.store.notes import Notes
from console.suites.metrics import basis_words
from console.suites.suite import Metric, Repeats, Report, Suite
from console.suites.summing import split_words, summed_up

RUN = JsonKind(
    "run",
    "show, run, resume, retry, branch, merge",
    "A run with its counts and the report of its suite. `run` writes one for each run that it plays.",
    {
        "run": "its name",
        "folder": "where it is kept",
        "summary": "state, counts, tokens, cost",
        "report": "metrics by the suite's own formula, with intervals; null when the suite is not here",
        "labels": "optional: what a model holds the causes of failures to be; opinions, no results",
    },
    is_stream=True,
)

_MetricRow = tuple[str, str, str, str, str]
"""Name, value, interval, what it rests on, and a note."""
_SIGNALS = {1: Exit.HANGUP, 2: Exit.INTERRUPTED, 15: Exit.TERMINATED}


def exit_code(summary: Summary, report: Report | None, fail_under: float | None, signal: int | None = None) -> Exit:
    """Return the code of a run's ending; the first that applies: signal, cap, inconclusive, below, ok."""
    if signal is not None and signal in _SIGNALS:
        return _SIGNALS[signal]
    if summary.state == "budget":
        return Exit.BUDGET
    if summary.tally.graded + summary.tally.setup < summary.planned:
        return Exit.INCONCLUSIVE
    if fail_under is not None and report is not None:
        value = report.metrics[0].value if report.metrics else None
        if value is None:
            return Exit.INCONCLUSIVE
        return Exit.BELOW if value < fail_under else Exit.OK
    return Exit.OK


def threshold(text: str | None, measures: Iterable[tuple[Suite, Setting]]) -> float | None:
    """Read --fail-under: `0.8` or `80%` for rates, a plain number for other scores.

    Args:
        text: as given; None: nothing was asked.
        measures: suite and setting of each run that is measured by it.

    Raises:
        UsageError: it is not a number, or none that these suites' scores could have.
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
        metrics = summed_up(suite, [], setting).metrics  # of no results: tells the unit
        is_rate = bool(metrics) and metrics[0].unit == "rate"
        if is_rate and not 0 <= least <= 1:
            message = f"{text} is out of range: the score of {suite.entry.name} is a rate from 0 to 1"
            raise UsageError(message, where="--fail-under", hint="Write 0.8 or 80%.")
        if metrics and not is_rate and text.endswith("%"):
            message = f"the score of {suite.entry.name} is no rate but its {metrics[0].name}"
            raise UsageError(message, where="--fail-under", hint="Write a plain number.")
    return least


def show_report(output: Output, history: History, report: Report | None) -> None:
    """Write what a run came to."""
    summary = history.summary
    if output.machine:
        output.data(RUN, _fields(history, report))
        return
    mark = "  (simulated)" if summary.simulated else ""
    output.text(f"{summary.id}{mark}", "strong")
    output.text(f"{summary.model} on {summary.suite}: {summary.state}, {_counts(summary)}")
    if source := history.manifest.versions.get("imported"):
        file = history.manifest.dataset.get("log", "")
        output.text(f"imported from {source}" + (f", {file}" if file else ""))
    if summary.message:
        output.text(summary.message, "bad")
    for notice in run_warnings(summary, history.manifest):
        output.text(notice, "warning")
    for damage in summary.damages():
        output.text(damage, "warning")
    if report is not None and report.fault:
        output.text()
        output.text(report.fault, "bad")
    elif report is not None:
        output.text()
        rows = [_metric_row(metric) for metric in report.metrics]
        rows += [_metric_row(metric, name) for name, metrics in report.categories.items() for metric in metrics]
        _show_metrics(output, "metric", rows)
    if report is not None and report.repeats is not None:
        _show_repeats(output, report.repeats)
    if summary.reasons:
        output.text()
        output.rows(("reason", "count"), list(counts_in_words(summary.reasons).items()), right=frozenset({1}))


def _show_metrics(output: Output, heading: str, rows: Sequence[_MetricRow]) -> None:
    """Write metrics in a table; where their notes do not fit beside them, a `*` stands there and the notes below."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))] if rows else []
    fits = sum(widths) + 2 * len(widths) <= terminal_width()
    beside = rows if fits else [(*row[:-1], "*" if row[-1] else "") for row in rows]
    output.rows((heading, "value", "95 %", "of", ""), beside, right=frozenset({1, 3}))
    names: dict[str, list[str]] = {}
    for name, *_, note in () if fits else rows:
        names.setdefault(note, []).append(name.strip())
    for note in filter(None, names):
        output.prose(f"* {note} ({', '.join(names[note])})", "faint")


MOST_FLAKY = 20
"""Flaky cases that are listed; `failures --by repeats` lists all."""


def _show_repeats(output: Output, repeats: Repeats) -> None:
    """Write what repeats say: pass@k and pass^k, where the spread comes from, and which cases are flaky."""
    output.text()
    _show_metrics(output, "repeats", [_metric_row(metric) for metric in repeats.metrics])
    if words := split_words(repeats):
        output.text(words, "faint")
    if repeats.flaky:
        output.text()
        shown = [(case.case, case.rollouts, f"{case.passed} of {case.graded}") for case in repeats.flaky[:MOST_FLAKY]]
        output.rows((f"flaky ({len(repeats.flaky)})", "rollouts", "passed"), shown)


def _fields(history: History, report: Report | None) -> dict[str, Any]:
    return {
        "run": history.manifest.id,
        "folder": str(history.folder.path),
        "summary": msgspec.to_builtins(history.summary),
        "report": msgspec.to_builtins(report) if report is not None else None,
        **_labels(history),
    }


def _labels(history: History) -> dict[str, Any]:
    """Return the labels that a model gave failures; nothing where none was asked."""
    annotations = Notes(history.folder.path).annotations()
    labels = [
        {"case": case, "rollout": rollout, **msgspec.to_builtins(annotation.label)}
        for (case, rollout), annotation in annotations.items()
        if annotation.label is not None
    ]
    return {"labels": labels} if labels else {}


def _counts(summary: Summary) -> str:
    tally = summary.tally
    counted = [("passed", tally.passed), ("failed", tally.failed), ("broken", tally.broken)]
    counted += [("setup", tally.setup)]
    counted += [("undecided", tally.undecided), ("not run", summary.planned - tally.finished)]
    words = ", ".join(f"{count} {name}" for name, count in counted if count) or "nothing was run"
    return f"{words}; {tally.input_tokens + tally.output_tokens:,} tokens{_cost(summary)}"


def _cost(summary: Summary) -> str:
    """Say what was spent, and for how many rollouts nobody knows it: an unknown cost is not a small one."""
    tally = summary.tally
    cost = f", ${tally.cost_usd:.4f}" if tally.cost_usd else ""
    if not tally.cost_unknown:
        return cost
    unknown = f"no price or no usage for {plural(tally.cost_unknown, 'rollout')}"
    return f"{cost} or more ({unknown})" if cost else f", cost unknown ({unknown})"


def _metric_row(metric: Metric, category: str = "") -> _MetricRow:
    name = f"  {category}: {metric.name}" if category else metric.name
    value = metric_value(metric.value, metric.unit)
    return (name, value, metric_bounds(metric), basis_words(metric), metric.note)


def metric_words(metric: Metric) -> str:
    """Return a metric in words: `success rate 75.00%`."""
    return f"{metric.name} {metric_value(metric.value, metric.unit)}"
