"""Parts of HTML pages: numbers with bars, passages, expected beside actual. All foreign text is escaped."""

import html
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome
from console.core.text import visible
from console.exchange.document import Item, RunDocument
from console.insight.judging import judging_lines
from console.insight.number_format import duration, metric_bounds, metric_value, spent
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words, sentence
from console.suites.metrics import basis_words
from console.suites.suite import Metric
from console.suites.summing import split_words

LONGEST = 4000
"""Characters of one value that are written."""
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1d2530;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.2rem .7rem .2rem 0;border-bottom:1px solid #e3e7ec}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
pre,code{font:13px/1.4 ui-monospace,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f7f9;padding:.6rem;margin:.4rem 0}
td code{white-space:pre-wrap;overflow-wrap:anywhere}details{border-top:1px solid #e3e7ec;padding:.5rem 0}
summary{cursor:pointer}td.i{white-space:nowrap;font-variant-numeric:tabular-nums}
.pass{color:#116b2e}.fail{color:#b3161d}.broken{color:#8a1c6b}.undecided{color:#7a5c00}
.said{margin:.5rem 0 .5rem 1rem}.said b{font-size:.85rem}.muted{color:#66707c}
.simulated{background:#fff3d6;border:1px solid #e0b84f;padding:.5rem .8rem}svg{vertical-align:middle}
tr.off td{background:#fdeaea}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#dde3ea}pre{background:#1d232a}
th,td,details{border-color:#2c343d}.pass{color:#6fd18b}.fail{color:#ff8f8f}.broken{color:#e08cc4}
.undecided{color:#e3c065}
.simulated{background:#3a3016;border-color:#7a6429}.muted{color:#97a2ae}tr.off td{background:#3a1f20}}
"""
CLASSES = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.BROKEN: "broken",
    Outcome.UNDECIDED: "undecided",
}
_COLOURS = {"passed": "#2da44e", "failed": "#d1242f", "broken": "#a0368a", "undecided": "#b58900"}
"""Colours of bars that count an outcome; legible on white and on black."""
_PLAIN = "#6b7f99"


SIMULATED = (
    '<p class="simulated"><strong>simulated</strong>: answers came from a built-in simulated model and say nothing '
    "about any real one.</p>"
)


def run_line(document: RunDocument) -> str:
    """Return which run it is, when it began, how it ended, how long it took and what it cost."""
    manifest, summary = document.manifest, document.summary
    started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(manifest.at))
    return (
        f'<p class="muted">run {safe(manifest.id)}, {started}, {safe(summary.state)}, '
        f"{duration(summary.seconds)}, {safe(spent(summary.tally, simulated=summary.simulated))}</p>"
    )


def outcomes_table(document: RunDocument) -> str:
    """Return how many rollouts ended in which way, and how many readers dispute."""
    counts = Counter(item.outcome for item in document.items)
    missing = document.summary.planned - sum(counts.values())
    if missing > 0:
        counts["not started"] = missing
    rows = [(safe(name.replace("_", " ")), count) for name, count in counts.most_common()]
    disputed = sum(bool(item.annotation("dispute")) for item in document.items)
    sentence = f"<p>{disputed} disputed: a reader holds the ground truth to be wrong; the score counts them as is.</p>"
    return counts_table("Outcomes", "outcome", rows) + (sentence if disputed else "")


def reasons_table(items: Sequence[Item]) -> Iterable[str]:
    """Yield how often each reason occurs, if anything failed."""
    graded = (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)
    counts = Counter(
        reason_words(item.rollout.reason, item.rollout.outcome) for item in items if item.rollout.outcome in graded
    )
    if counts:
        yield counts_table("Why", "reason", [(safe(name), count) for name, count in counts.most_common(30)])


def counts_table(title: str, heading: str, rows: Sequence[tuple[str, int]]) -> str:
    """Return a table of counts with bars; names are escaped already."""
    most = max((count for _, count in rows), default=1) or 1
    body = "".join(
        f'<tr><td>{name}</td><td class="n">{count}</td>'
        f"<td>{_bar(count / most, colour=_COLOURS.get(name, _PLAIN))}</td></tr>"
        for name, count in rows
    )
    head = f'<tr><th>{heading}</th><th class="n">count</th><th></th></tr>'
    return f"<h2>{title}</h2><table>{head}{body}</table>"


def metrics_tables(document: RunDocument) -> Iterable[str]:
    """Yield the report's numbers with their intervals, or why there are none."""
    if document.report is None:
        return
    if document.report.fault:
        yield f'<h2>Metrics</h2><p class="fail">{safe(document.report.fault)}</p>'
        return
    rows = [_metric("", metric) for metric in document.report.metrics]
    rows += [_metric(name, metric) for name, metrics in document.report.categories.items() for metric in metrics]
    head = '<tr><th>metric</th><th class="n">value</th><th>95 %</th><th></th><th class="n">of</th><th></th></tr>'
    yield f"<h2>Metrics</h2><table>{head}{''.join(rows)}</table>"


def judge_lines(document: RunDocument) -> Iterable[str]:
    """Yield what is to be said of a judge."""
    if document.judging is not None and document.judging.is_worth_saying:
        lines = "".join(f"<li>{safe(line)}</li>" for line in judging_lines(document.judging))
        yield f"<h2>Judge</h2><ul>{lines}</ul>"


def repeats_tables(document: RunDocument) -> Iterable[str]:
    """Yield what repeats show, and which cases are flaky."""
    repeats = document.report.repeats if document.report is not None else None
    if repeats is None:
        return
    head = '<tr><th>metric</th><th class="n">value</th><th>95 %</th><th></th><th class="n">of</th><th></th></tr>'
    rows = "".join(_metric("", metric) for metric in repeats.metrics)
    yield f"<h2>Repeats</h2><table>{head}{rows}</table><p>{safe(split_words(repeats))}</p>"
    if repeats.flaky:
        flaky = "".join(
            f"<tr><td>{safe(case.case)}</td><td><code>{safe(case.rollouts)}</code></td>"
            f'<td class="n">{case.passed} of {case.graded}</td></tr>'
            for case in repeats.flaky
        )
        heading = '<tr><th>case</th><th>rollouts</th><th class="n">passed</th></tr>'
        yield f"<h3>Flaky ({len(repeats.flaky)})</h3><table>{heading}{flaky}</table>"


def _metric(category: str, metric: Metric) -> str:
    name = f"{category}: {metric.name}" if category else metric.name
    low, high = metric.low, metric.high
    bar = _bar(metric.value, low, high) if metric.unit == "rate" and metric.value is not None else ""
    return (
        f'<tr><td>{safe(name)}</td><td class="n">{metric_value(metric.value, metric.unit)}</td>'
        f'<td class="i">{metric_bounds(metric)}</td><td>{bar}</td>'
        f'<td class="n">{basis_words(metric)}</td><td class="muted">{safe(metric.note)}</td></tr>'
    )


def _bar(share: float, low: float | None = None, high: float | None = None, *, colour: str = _PLAIN) -> str:
    """Return a bar of 160 pixels, with a line over its interval."""
    width = 160 * max(0.0, min(1.0, share))
    span = ""
    if low is not None and high is not None:
        span = f'<path d="M{160 * low:.1f} 6H{160 * high:.1f}" stroke="#e08a00" stroke-width="3"/>'
    return (
        '<svg width="160" height="12" aria-hidden="true"><rect width="160" height="12" fill="#8884"/>'
        f'<rect width="{width:.1f}" height="12" fill="{colour}"/>{span}</svg>'
    )


def failure_words(item: Item) -> str:
    """Return why a rollout ended as it did, in one sentence; parts are foreign text."""
    words = item.comparison.sentence if item.comparison else ""
    return words or sentence(item.rollout.reason, item.rollout.subject, item.rollout.outcome)


def passage_part(passage: Passage, text: str | None = None) -> str:
    """Return one passage of a conversation, instructions folded.

    Args:
        passage: the passage.
        text: HTML to stand in place of the passage's own text.
    """
    who = passage.kind.value if passage.role == "model" else f"{passage.role}: {passage.kind.value}"
    value = "" if passage.value is None else f" {passage.value:g}"
    if text is None:
        text = f"<pre>{safe(passage.text)}</pre>" if passage.text.strip() else ""
    head = f" <code>{safe(passage.head)}</code>" if passage.head else ""
    if passage.kind is PassageKind.SYSTEM:
        return f'<details class="said"><summary class="muted">{safe(who)}</summary>{text}</details>'
    return f'<div class="said"><b class="muted">{safe(who)}</b>{head}{value}{text}</div>'


def comparison_table(comparison: Comparison, *, longest: int = LONGEST, most: int | None = None) -> str:
    """Return expected beside actual.

    Args:
        comparison: what is compared.
        longest: characters of one value that are written.
        most: rows that are written; None: all.
    """
    lines = [line for pair in comparison.pairs for line in _lines(pair, longest)]
    body = "".join(lines[:most])
    head = "<tr><td></td><td></td><th>expected</th><th>actual</th><td></td></tr>"
    table = f"<table>{head}{body}</table>" if body else ""
    more = f"<p>… and {len(lines) - most} more rows.</p>" if most is not None and len(lines) > most else ""
    raw = f"<pre>{safe(comparison.raw, longest)}</pre>" if comparison.raw else ""
    hint = f"<p>would pass: {safe(comparison.hint, longest)}</p>" if comparison.hint else ""
    fault = f'<p class="fail">{safe(comparison.fault, longest)}</p>' if comparison.fault else ""
    return f"{fault}{table}{more}{raw}{hint}"


def _lines(pair: Pair, longest: int) -> Iterable[str]:
    yield _line(pair.name_mark, ("", pair.expected, pair.actual, pair.note), longest)
    for row in pair.rows:
        actual = "—" if row.actual is None else row.actual
        yield _line(row.mark, (row.name, " | ".join(row.expected), actual, row.note), longest)


def _line(mark: Mark, texts: tuple[str, str, str, str], longest: int) -> str:
    off = "" if mark in (Mark.SAME, Mark.OMITTED) else ' class="off"'
    name, expected, actual, note = (safe(text, longest) for text in texts)
    return (
        f"<tr{off}><td>{safe(mark.value)}</td><td>{name}</td><td><code>{expected}</code></td>"
        f'<td><code>{actual}</code></td><td class="muted">{note}</td></tr>'
    )


def safe(text: str, longest: int = LONGEST) -> str:
    """Return foreign text for the inside of an element or a quoted attribute."""
    shown = text if len(text) <= longest else f"{text[:longest]} … {len(text) - longest} more characters"
    return html.escape(visible(shown), quote=True)
