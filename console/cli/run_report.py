"""The report of a finished run, as text and as an exit code."""

from typing import Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.history import History
from console.cli.output import Output
from console.core.fault import UsageError
from console.core.run import Summary
from console.insight.warnings import run_warnings
from console.suites.metrics import basis_words
from console.suites.suite import Metric, Repeats, Report
from console.suites.summing import split_words

_SIGNALS = {1: Exit.HANGUP, 2: Exit.INTERRUPTED, 15: Exit.TERMINATED}


def exit_code(summary: Summary, report: Report | None, fail_under: float | None, signal: int | None = None) -> Exit:
    """Return the code of a run's ending; the first that applies: signal, cap, inconclusive, below, ok."""
    if signal is not None and signal in _SIGNALS:
        return _SIGNALS[signal]
    if summary.state == "budget":
        return Exit.BUDGET
    if summary.tally.graded + summary.tally.prepared < summary.planned:
        return Exit.INCONCLUSIVE
    if fail_under is not None and report is not None:
        value = report.metrics[0].value if report.metrics else None
        if value is None:
            return Exit.INCONCLUSIVE
        return Exit.BELOW if value < fail_under else Exit.OK
    return Exit.OK


def threshold(text: str | None) -> float | None:
    """Read --fail-under: `0.8` or `80%` for rates, a plain number for other scores.

    Raises:
        UsageError: it is not a number.
    """
    if text is None:
        return None
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number", where="--fail-under", hint="Write 0.8 or 80%.") from None


def show_report(output: Output, history: History, report: Report | None) -> None:
    """Write what a run came to."""
    summary = history.summary
    if output.machine:
        output.data(as_json(history, report))
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
        output.text(notice, "doubt")
    for damage in summary.damages():
        output.text(damage, "doubt")
    if report is not None and report.fault:
        output.text()
        output.text(report.fault, "bad")
    elif report is not None:
        output.text()
        rows = [_metric_row(metric) for metric in report.metrics]
        rows += [_metric_row(metric, name) for name, metrics in report.categories.items() for metric in metrics]
        output.rows(("metric", "value", "95 %", "of", ""), rows, right=frozenset({1, 3}))
    if report is not None and report.repeats is not None:
        _show_repeats(output, report.repeats)
    if summary.reasons:
        output.text()
        output.rows(("reason", "count"), list(summary.reasons.items()), right=frozenset({1}))


MOST_FLAKY = 20
"""Flaky cases that are listed; `failures --by repeats` lists all."""


def _show_repeats(output: Output, repeats: Repeats) -> None:
    """Write what repeats say: pass@k and pass^k, where the spread comes from, and which cases are flaky."""
    output.text()
    output.rows(("repeats", "value", "95 %", "of", ""), [_metric_row(metric) for metric in repeats.metrics],
                right=frozenset({1, 3}))  # fmt: skip
    if words := split_words(repeats):
        output.text(words, "faint")
    if repeats.flaky:
        output.text()
        shown = [(case.case, case.rollouts, f"{case.passed} of {case.graded}") for case in repeats.flaky[:MOST_FLAKY]]
        output.rows((f"flaky ({len(repeats.flaky)})", "rollouts", "passed"), shown)


def as_json(history: History, report: Report | None) -> dict[str, Any]:
    """Return a run as one versioned JSON object."""
    return {
        "schema": 1,
        "run": history.manifest.id,
        "folder": str(history.folder.path),
        "summary": msgspec.to_builtins(history.summary),
        "report": msgspec.to_builtins(report) if report is not None else None,
    }


def _counts(summary: Summary) -> str:
    tally = summary.tally
    counted = [("passed", tally.passed), ("failed", tally.failed), ("broken", tally.broken)]
    counted += [("prepared", tally.prepared)]
    counted += [("undecided", tally.undecided), ("not run", summary.planned - tally.finished)]
    words = ", ".join(f"{count} {name}" for name, count in counted if count) or "nothing played"
    return f"{words}; {tally.input_tokens + tally.output_tokens:,} tokens{_cost(summary)}"


def _cost(summary: Summary) -> str:
    """Say what was spent, and for how many rollouts nobody knows it: an unknown cost is not a small one."""
    tally = summary.tally
    cost = f", ${tally.cost_usd:.4f}" if tally.cost_usd else ""
    if not tally.cost_unknown:
        return cost
    unknown = f"no price or no usage for {tally.cost_unknown} of {tally.finished} rollouts"
    return f"{cost} or more ({unknown})" if cost else f", cost unknown ({unknown})"


def _metric_row(metric: Metric, category: str = "") -> tuple[object, ...]:
    name = f"  {category}: {metric.name}" if category else metric.name
    span = (
        ""
        if metric.low is None or metric.high is None
        else f"{_format_value(metric.low, metric)}-{_format_value(metric.high, metric)}"
    )
    return (name, _format_value(metric.value, metric), span, basis_words(metric), metric.note)


def metric_words(metric: Metric) -> str:
    """Return a metric in words: `success rate 75.00%`."""
    return f"{metric.name} {_format_value(metric.value, metric)}"


def _format_value(value: float | None, metric: Metric) -> str:
    if value is None:
        return "N/A"
    return f"{value:.2%}" if metric.unit == "rate" else f"{value:g}" if value == int(value) else f"{value:.4f}"
