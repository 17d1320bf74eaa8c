"""A run as one HTML file to send around: numbers with bars, and every failure with expected beside actual.

Nothing in it can act: all foreign text is escaped and its control characters made visible, there is no script and no
link, and a content policy forbids everything but the style sheet inside the file. Bars are inline SVG.
"""

import html
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome
from console.core.text import visible
from console.exchange.document import ANNOTATION_FIELDS, Item, RunDocument
from console.insight.conversation import Conversation
from console.insight.failures import GroupBy, group
from console.insight.judging import judging_lines
from console.insight.number_format import duration, metric_bounds, metric_value, money, spent
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words, sentence
from console.suites.metrics import basis_words
from console.suites.suite import Metric
from console.suites.summing import split_words

MOST_FAILURES = 500
"""Failures that are written out; of more, only their number is said."""
MOST_PASSAGES = 200
"""Passages of one conversation that are written out."""
LONGEST = 4000
"""Characters of one value that are written."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
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
_CLASSES = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.BROKEN: "broken",
    Outcome.UNDECIDED: "undecided",
}
_COLOURS = {"passed": "#2da44e", "failed": "#d1242f", "broken": "#a0368a", "undecided": "#b58900"}
"""Colours of bars that count an outcome; legible on white and on black."""
_PLAIN = "#6b7f99"


def html_page(document: RunDocument) -> str:
    """Return a whole file."""
    manifest, summary = document.manifest, document.summary
    title = f"{_safe(summary.model)} on {_safe(summary.suite)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
    ]
    if document.simulated:
        parts.append(
            '<p class="simulated"><strong>simulated</strong>: answers came from a built-in simulated model and say '
            "nothing about any real one.</p>"
        )
    started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(manifest.at))
    parts += [
        f'<p class="muted">run {_safe(manifest.id)}, {started}, {_safe(summary.state)}, '
        f"{duration(summary.seconds)}, {_safe(spent(summary.tally))}</p>",
        _outcomes(document),
        *_metrics(document),
        *_repeats(document),
        *_judging(document),
        *_reasons(document.items),
        *_failures(document.items),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _outcomes(document: RunDocument) -> str:
    counts = Counter(item.outcome for item in document.items)
    missing = document.summary.planned - sum(counts.values())
    if missing > 0:
        counts["not started"] = missing
    rows = [(_safe(name.replace("_", " ")), count) for name, count in counts.most_common()]
    disputed = sum(bool(item.annotation("dispute")) for item in document.items)
    sentence = f"<p>{disputed} disputed: a reader holds the ground truth to be wrong; the score counts them as is.</p>"
    return _counts_table("Outcomes", "outcome", rows) + (sentence if disputed else "")


def _reasons(items: Sequence[Item]) -> Iterable[str]:
    graded = (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)
    counts = Counter(
        reason_words(item.rollout.reason, item.rollout.outcome) for item in items if item.rollout.outcome in graded
    )
    if counts:
        yield _counts_table("Why", "reason", [(_safe(name), count) for name, count in counts.most_common(30)])


def _counts_table(title: str, heading: str, rows: Sequence[tuple[str, int]]) -> str:
    """Return a table of counts with bars; names are escaped already."""
    most = max((count for _, count in rows), default=1) or 1
    body = "".join(
        f'<tr><td>{name}</td><td class="n">{count}</td>'
        f"<td>{_bar(count / most, colour=_COLOURS.get(name, _PLAIN))}</td></tr>"
        for name, count in rows
    )
    head = f'<tr><th>{heading}</th><th class="n">count</th><th></th></tr>'
    return f"<h2>{title}</h2><table>{head}{body}</table>"


def _metrics(document: RunDocument) -> Iterable[str]:
    if document.report is None:
        return
    if document.report.fault:
        yield f'<h2>Metrics</h2><p class="fail">{_safe(document.report.fault)}</p>'
        return
    rows = [_metric("", metric) for metric in document.report.metrics]
    rows += [_metric(name, metric) for name, metrics in document.report.categories.items() for metric in metrics]
    head = (
        '<tr><th>metric</th><th class="n">value</th><th class="n">95 %</th><th></th><th class="n">of</th><th></th></tr>'
    )
    yield f"<h2>Metrics</h2><table>{head}{''.join(rows)}</table>"


def _judging(document: RunDocument) -> Iterable[str]:
    if document.judging is not None and document.judging.is_worth_saying:
        lines = "".join(f"<li>{_safe(line)}</li>" for line in judging_lines(document.judging))
        yield f"<h2>Judge</h2><ul>{lines}</ul>"


def _repeats(document: RunDocument) -> Iterable[str]:
    repeats = document.report.repeats if document.report is not None else None
    if repeats is None:
        return
    head = (
        '<tr><th>metric</th><th class="n">value</th><th class="n">95 %</th><th></th><th class="n">of</th><th></th></tr>'
    )
    rows = "".join(_metric("", metric) for metric in repeats.metrics)
    yield f"<h2>Repeats</h2><table>{head}{rows}</table><p>{_safe(split_words(repeats))}</p>"
    if repeats.flaky:
        flaky = "".join(
            f"<tr><td>{_safe(case.case)}</td><td><code>{_safe(case.rollouts)}</code></td>"
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
        f'<tr><td>{_safe(name)}</td><td class="n">{metric_value(metric.value, metric.unit)}</td>'
        f'<td class="i">{metric_bounds(metric)}</td><td>{bar}</td>'
        f'<td class="n">{basis_words(metric)}</td><td class="muted">{_safe(metric.note)}</td></tr>'
    )


def _bar(share: float, low: float | None = None, high: float | None = None, *, colour: str = _PLAIN) -> str:
    """Return a bar of 160 pixels, with a line over its interval."""
    width = 160 * max(0.0, min(1.0, share))
    span = ""
    if low is not None and high is not None:
        span = f'<path d="M{160 * low:.1f} 6H{160 * high:.1f}" stroke="#e08a00" stroke-width="3"/>'
    return (
        '<svg width="160" height="12" role="img"><rect width="160" height="12" fill="#8884"/>'
        f'<rect width="{width:.1f}" height="12" fill="{colour}"/>{span}</svg>'
    )


# Failures ------------------------------------------------------------------------------------------------------------


def _failures(items: Sequence[Item]) -> Iterable[str]:
    failures = [item for item in items if item.rollout.is_failure or item.annotations]
    if not failures:
        return
    yield f"<h2>Failures and what readers marked ({len(failures)})</h2>"
    by_slot = {item.rollout.slot: item for item in failures}
    left = MOST_FAILURES
    for part in group([item.rollout for item in failures], GroupBy.REASON):
        shown = part.rollouts[:left]
        left -= len(shown)
        if shown:
            yield f'<h3>{_safe(part.label)} <span class="muted">{part.count}</span></h3>'
            yield from (_failure(by_slot[rollout.slot]) for rollout in shown)
    if len(failures) > MOST_FAILURES:
        yield f"<p>… and {len(failures) - MOST_FAILURES} more, which the other forms hold.</p>"


def _failure(item: Item) -> str:
    rollout = item.rollout
    kind = _CLASSES.get(rollout.outcome, "muted") if rollout.outcome else "muted"
    words = item.comparison.sentence if item.comparison else ""
    words = words or sentence(rollout.reason, rollout.subject, rollout.outcome)
    tag = f" <strong>[{_safe(item.annotation('tag'))}]</strong>" if item.annotation("tag") else ""
    messages = item.finished.verdict.messages if item.finished else ()
    parts = [
        f'<details><summary><span class="{kind}">{_safe(item.outcome)}</span> <code>{_safe(str(rollout.key))}</code> '
        f"{_safe(words)}{tag}</summary>",
        f'<p class="muted">{_safe(rollout.category)}, {duration(rollout.seconds)}, {money(rollout.cost_usd)}'
        f"{', ' + _safe(rollout.reason) if rollout.reason else ''}</p>",
        f"<p>{_safe(rollout.title)}</p>" if rollout.title else "",
        *(
            f"<p>{kind.replace('_', ' ')}: {_safe(item.annotation(kind))}</p>"
            for kind in ANNOTATION_FIELDS[1:]
            if item.annotation(kind)
        ),
        f"<pre>{_safe(chr(10).join(messages))}</pre>" if messages else "",
        _comparison(item.comparison) if item.comparison else "",
        _conversation(item.conversation) if item.conversation else "",
        "</details>",
    ]
    return "".join(parts)


def _conversation(conversation: Conversation) -> str:
    """Return what was said, folded; what another passage shows already is left out."""
    said = [passage for passage in conversation.passages if not passage.repeats]
    body = "".join(_passage(passage) for passage in said[:MOST_PASSAGES])
    more = f"<p>… and {len(said) - MOST_PASSAGES} more passages.</p>" if len(said) > MOST_PASSAGES else ""
    return f"<details><summary>conversation ({len(said)} passages)</summary>{body}{more}</details>" if said else ""


def _passage(passage: Passage) -> str:
    who = passage.kind.value if passage.role == "model" else f"{passage.role}: {passage.kind.value}"
    value = "" if passage.value is None else f" {passage.value:g}"
    text = f"<pre>{_safe(passage.text)}</pre>" if passage.text.strip() else ""
    head = f" <code>{_safe(passage.head)}</code>" if passage.head else ""
    if passage.kind is PassageKind.SYSTEM:
        return f'<details class="said"><summary class="muted">{_safe(who)}</summary>{text}</details>'
    return f'<div class="said"><b class="muted">{_safe(who)}</b>{head}{value}{text}</div>'


def _comparison(comparison: Comparison) -> str:
    body = "".join(_pair(pair) for pair in comparison.pairs)
    head = "<tr><th></th><th></th><th>expected</th><th>actual</th><th></th></tr>"
    table = f"<table>{head}{body}</table>" if body else ""
    raw = f"<pre>{_safe(comparison.raw)}</pre>" if comparison.raw else ""
    hint = f"<p>would pass: {_safe(comparison.hint)}</p>" if comparison.hint else ""
    return f"{table}{raw}{hint}"


def _pair(pair: Pair) -> str:
    return _line(pair.name_mark, "", pair.expected, pair.actual, pair.note) + "".join(_row(row) for row in pair.rows)


def _row(row: Row) -> str:
    actual = "—" if row.actual is None else row.actual
    return _line(row.mark, row.name, " | ".join(row.expected), actual, row.note)


def _line(mark: Mark, name: str, expected: str, actual: str, note: str) -> str:
    off = "" if mark in (Mark.SAME, Mark.OMITTED) else ' class="off"'
    return (
        f"<tr{off}><td>{_safe(mark.value)}</td><td>{_safe(name)}</td><td><code>{_safe(expected)}</code></td>"
        f'<td><code>{_safe(actual)}</code></td><td class="muted">{_safe(note)}</td></tr>'
    )


def _safe(text: str) -> str:
    """Return foreign text for the inside of an element or a quoted attribute."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … {len(text) - LONGEST} more characters"
    return html.escape(visible(shown), quote=True)
