"""A run as a Markdown section, for a pull request or a wiki. Foreign text cannot break out of its cell."""

import re
from collections.abc import Iterable, Mapping, Sequence

from console.core.run import Summary
from console.core.text import visible_line
from console.exchange.document import ANNOTATION_FIELDS, AnnotationFields
from console.insight.judging import Judging, judging_lines
from console.insight.number_format import duration, spent
from console.insight.rollout import Slot
from console.suites.metrics import basis_words
from console.suites.suite import Metric, Repeats, Report
from console.suites.summing import split_words

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown_section(
    summary: Summary,
    report: Report | None,
    annotations: Mapping[Slot, AnnotationFields] | None = None,
    judging: Judging | None = None,
) -> str:
    """Return heading, counts, metrics, reasons, and what readers tagged and wrote."""
    tally = summary.tally
    mark = " (simulated)" if summary.simulated else ""
    counts = f"{tally.passed} passed, {tally.failed} failed, {tally.broken} broken, {tally.undecided} undecided"
    parts = [
        f"### {escaped(summary.model)}{mark} on {escaped(summary.suite)}",
        f"{summary.state}: {counts}, of {summary.planned}; {duration(summary.seconds)}, {spent(tally)}",
    ]
    if report is not None and report.fault:
        parts.append(escaped(report.fault))
    elif report is not None:
        rows = [_metric("", metric) for metric in report.metrics]
        rows += [_metric(name, metric) for name, metrics in report.categories.items() for metric in metrics]
        parts.append(_metrics_table("metric", rows))
    if report is not None and report.repeats is not None:
        parts += _repeats(report.repeats)
    if summary.reasons:
        parts.append(table(("reason", "count"), [(name, str(count)) for name, count in summary.reasons.items()]))
    if judging is not None and judging.is_worth_saying:
        parts.append("  \n".join(f"judge: {escaped(line)}" for line in judging_lines(judging)))
    if annotations:
        disputed = sum("dispute" in notes for notes in annotations.values())
        if disputed:
            parts.append(
                f"{disputed} disputed: a reader holds the ground truth to be wrong; the score counts them as is."
            )
        rows = [
            (case, *(notes.get(kind, "") for kind in ANNOTATION_FIELDS)) for (case, _), notes in annotations.items()
        ]
        parts.append(table(("case", *ANNOTATION_FIELDS), rows))
    return "\n\n".join(parts) + "\n"


def _repeats(repeats: Repeats) -> list[str]:
    parts = [_metrics_table("repeats", [_metric("", metric) for metric in repeats.metrics])]
    if words := split_words(repeats):
        parts.append(words)
    if repeats.flaky:
        rows = [(case.case, case.rollouts, f"{case.passed} of {case.graded}") for case in repeats.flaky]
        parts.append(table(("flaky case", "rollouts", "passed"), rows))
    return parts


def _metrics_table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table of metrics, with a column for notes where there is one."""
    headings = (title, "value", "95 %", "of", "note")
    width = len(headings) if any(row[-1] for row in rows) else len(headings) - 1
    return table(headings[:width], [row[:width] for row in rows])


def _metric(category: str, metric: Metric) -> tuple[str, ...]:
    name = f"{category}: {metric.name}" if category else metric.name
    bounds = [_value(bound, metric) for bound in (metric.low, metric.high) if bound is not None]
    return name, _value(metric.value, metric), " to ".join(bounds), basis_words(metric), metric.note


def _value(value: float | None, metric: Metric) -> str:
    if value is None:
        return "N/A"
    return f"{value:.2%}" if metric.unit == "rate" else f"{value:g}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are made safe, headings are words of ours."""
    lines = [headings, ["---"] * len(headings), *[[escaped(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def escaped(text: str) -> str:
    """Return foreign text on one line that Markdown takes literally."""
    return _ACTIVE.sub(r"\\\1", visible_line(text))
