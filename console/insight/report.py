"""The report of a run as sections, drawn by each front end and export in its own way.

A new statistic is a section of `statistics`; the command line, Markdown, web pages and the app then show it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from console.core.names import first_few
from console.core.run import Summary
from console.insight.judging import Judging, judging_lines
from console.insight.number_format import metric_bounds, metric_value
from console.insight.reasons import counts_in_words
from console.insight.warnings import server_warnings
from console.suites.headline import LACKS_CATEGORIES
from console.suites.metrics import basis_words
from console.suites.report import split_words
from console.suites.suite import Metric, Repeats, Report


@dataclass(frozen=True, slots=True)
class Bar:
    """A share from 0 to 1 drawn next to its row, with its interval if it has one."""

    share: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table. Its texts may be untrusted."""

    cells: tuple[str, ...]
    note: str = ""
    """Note shown in an extra last column."""
    bar: Bar | None = None
    level: int = 0
    """Indentation level; 0 for the top level."""

    @property
    def indented(self) -> tuple[str, ...]:
        """The cells with the first one indented by the level."""
        first, *others = self.cells
        return ("  " * self.level + first, *others)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report: a table, sentences, or both."""

    title: str
    headings: tuple[str, ...] = ()
    """Column headings; the first names the table if no title is shown."""
    rows: tuple[Row, ...] = ()
    right: frozenset[int] = frozenset()
    """Right-aligned columns."""
    most: int | None = None
    """Maximum number of rows on a screen or in a comment; None for all. Web pages show all."""
    lines: tuple[str, ...] = ()
    """Sentences below the table."""
    is_fault: bool = False
    """True if the lines explain why the section is empty."""

    def shown(self) -> tuple[Row, ...]:
        return self.rows[: self.most]

    def left_out(self) -> str:
        """Return the number of rows a screen omits, such as `… and 3 more`; empty for none."""
        more = len(self.rows) - len(self.shown())
        return f"… and {more} more" if more else ""


_NAMED_ROWS = 3
"""Maximum number of rows that a footnote lists by name."""


def footnotes(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Yield each note with its rows: their names, or the number of rows per measure if there are many."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            names.setdefault(row.note, []).append(row.cells[0])
    for note, noted in names.items():
        if len(noted) <= _NAMED_ROWS:
            yield note, ", ".join(noted)
        else:
            measures = Counter(name.rpartition(": ")[2] for name in noted)
            words = [f"{name} in {count} rows" if count > 1 else name for name, count in measures.items()]
            yield note, first_few(words, _NAMED_ROWS)


def report_sections(report: Report | None, judging: Judging | None) -> list[Section]:
    """Return the suite's metrics and other statistics, including any judge's; empty if the suite no longer exists."""
    return [*_metrics(report), *statistics(report, judging)]


def statistics(report: Report | None, judging: Judging | None) -> list[Section]:
    """Return the statistics beyond the suite's metrics: repeats, flaky cases, the judge."""
    # repeated grades of the same answers prove nothing about the model
    is_judge = judging is not None and judging.noise is not None
    repeats = report.repeats if report is not None and not is_judge else None
    return [*_repeats(repeats), *_judge(judging)]


def _metrics(report: Report | None) -> Iterator[Section]:
    if report is None:
        return
    if report.fault:
        yield Section("Metrics", lines=(report.fault,), is_fault=True)
        return
    rows = [_metric_row(metric) for metric in report.metrics]
    rows += [_metric_row(metric, name) for name, metrics in report.categories.items() for metric in metrics]
    yield _metrics_section("Metrics", "metric", rows)


def _repeats(repeats: Repeats | None) -> Iterator[Section]:
    if repeats is None:
        return
    words = split_words(repeats)
    yield _metrics_section("Repeats", "repeats", map(_metric_row, repeats.metrics), (words,) if words else ())
    if repeats.flaky:
        name = f"Flaky ({len(repeats.flaky)})"
        rows = tuple(Row((case.case, case.rollouts, f"{case.passed} of {case.graded}")) for case in repeats.flaky)
        yield Section(name, (name.lower(), "rollouts", "passed"), rows, frozenset({2}), most=20)


def _judge(judging: Judging | None) -> Iterator[Section]:
    if judging is not None and judging.is_worth_saying:
        yield Section("Judge", lines=tuple(judging_lines(judging)))


def reason_sections(summary: Summary) -> Iterator[Section]:
    """Yield a section with the count of each failure reason, and what the server may have caused, if any."""
    warnings = () if summary.simulated else tuple(server_warnings(summary, summary.tally.passed, summary.tally.failed))
    if summary.reasons:
        section = counts_section("Why", "reason", counts_in_words(summary.reasons).items())
        yield replace(section, lines=warnings)
    elif warnings:
        yield Section("Server", lines=warnings)


def outcome_counts(summary: Summary) -> list[tuple[str, int]]:
    """Return the number of rollouts by outcome, without setup; those left can be resumed, unlike those not run."""
    tally = summary.tally
    counts = {"passed": tally.passed, "failed": tally.failed, "broken": tally.broken, "undecided": tally.undecided}
    counts |= {"left": summary.left, "not run": tally.not_run}
    return [(name, count) for name, count in counts.items() if count]


def counts_section(title: str, heading: str, counts: Iterable[tuple[str, int]]) -> Section:
    """Return a section of counts, with bars in proportion to the largest."""
    counted = list(counts)
    most = max((count for _, count in counted), default=1) or 1
    rows = tuple(Row((name, str(count)), bar=Bar(count / most)) for name, count in counted)
    return Section(title, (heading, "count"), rows, frozenset({1}))


def _metrics_section(title: str, heading: str, rows: Iterable[Row], lines: tuple[str, ...] = ()) -> Section:
    return Section(title, (heading, "value", "95 %", "of"), tuple(rows), frozenset({1, 3}), lines=lines)


def _metric_row(metric: Metric, category: str = "") -> Row:
    name = f"{category}: {metric.name}" if category else metric.name
    has_bar = metric.unit == "rate" and metric.value is not None
    is_missing = metric.value is None and metric.note.endswith(LACKS_CATEGORIES)
    value = f"— ({metric.note})" if is_missing else metric_value(metric.value, metric.unit)
    return Row(
        (name, value, metric_bounds(metric), basis_words(metric)),
        note="" if is_missing else metric.note,
        bar=Bar(metric.value or 0.0, metric.low, metric.high) if has_bar else None,
        level=int(bool(category)),
    )
