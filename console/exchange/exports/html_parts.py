"""Parts of HTML pages: numbers with bars, passages, expected and actual. All untrusted text is escaped."""

import html
import time
from collections.abc import Iterable

from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome
from console.core.run import SIMULATED
from console.core.text import visible
from console.core.wait import slowed_by
from console.exchange.document import Item, RunDocument
from console.insight.number_format import duration, setup_words, spent
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import sentence
from console.insight.report import Bar, Row, Section, counts_section, outcome_counts
from console.insight.value_diff import equal_paths, structured

LONGEST = 4000
"""Maximum number of characters in a value."""
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;
color:#1d252e;background:#fbfcfd}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.2rem .7rem .2rem 0;border-bottom:1px solid #e3e7ec}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
pre,code{font:13px/1.4 ui-monospace,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f7f9;padding:.6rem;margin:.4rem 0}
td code{white-space:pre-wrap;overflow-wrap:anywhere}details{border-top:1px solid #e3e7ec;padding:.5rem 0}
summary{cursor:pointer}td.i{white-space:nowrap;font-variant-numeric:tabular-nums}
.pass{color:#0a58b0}.fail{color:#a64500}.broken{color:#a0205f}.undecided{color:#6a3fb0}
.said{margin:.5rem 0 .5rem 1rem}.said b{font-size:.85rem}.muted{color:#59616b}
.simulated{background:#fff3d6;border:1px solid #e0b84f;padding:.5rem .8rem}svg{vertical-align:middle}
tr.off td{background:#fbeee3}
.filter{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:.5rem 0}
@media(prefers-color-scheme:dark){body{background:#15191e;color:#d1d9e0}pre{background:#1d232a}
th,td,details{border-color:#2c343d}.pass{color:#6cb6ff}.fail{color:#f69d50}.broken{color:#e884b8}
.undecided{color:#dcbdfb}
.simulated{background:#3a3016;border-color:#7a6429}.muted{color:#98a2ad}tr.off td{background:#33261a}}
"""
CLASSES = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.BROKEN: "broken",
    Outcome.UNDECIDED: "undecided",
}


def simulated_notice(note: str) -> str:
    """Return a paragraph stating which models were simulated, given a run's note; empty for an empty note."""
    if not note:
        return ""
    whose, say = ("answers", "say") if note == SIMULATED else ("this part", "says")
    came = f"{whose} came from built-in simulated models and {say} nothing"
    return f'<p class="simulated"><strong>{safe(note)}</strong>: {came} about any real one.</p>'


def run_line(document: RunDocument) -> str:
    """Return one line with the run, its start, ending, duration and cost."""
    manifest, summary, tally = document.manifest, document.summary, document.summary.tally
    started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(manifest.at))
    return (
        f'<p class="muted">run {safe(manifest.id)}, {started}, {safe(summary.state)}, '
        f"{duration(summary.seconds)}, {safe(spent(tally, summary.simulated_note, summary.batch_terms))}"
        f"{slowed_by(tally.rate_limits)}</p>"
    )


def outcomes_table(document: RunDocument) -> str:
    """Return a table of outcome counts, and the numbers of setup and of disputed rollouts."""
    tally = document.summary.tally
    named = sorted(outcome_counts(document.summary), key=lambda each: -each[1])
    setup = f"<p>{setup_words(tally)}, not graded</p>" if tally.setup_done else ""
    disputed = sum(bool(item.annotation("dispute")) for item in document.items)
    sentence = f"<p>{disputed} disputed: a reader considers the ground truth wrong; the score does not change.</p>"
    return section_part(counts_section("Outcomes", "outcome", named)) + setup + (sentence if disputed else "")


def section_part(section: Section) -> str:
    """Return a section with its title, rows with bars and notes, and sentences."""
    kind = ' class="fail"' if section.is_fault else ""
    lines = "".join(f"<p{kind}>{safe(line)}</p>" for line in section.lines)
    if not section.rows:
        return f"<h2>{safe(section.title)}</h2>{lines}"
    bars, notes = any(row.bar for row in section.rows), any(row.note for row in section.rows)
    first = "" if section.headings[0] == section.title.lower() else section.headings[0]
    head = "".join(_heading(section, place, name) for place, name in enumerate((first, *section.headings[1:])))
    head += "<td></td>" * (bars + notes)
    body = "".join(_row(section, row, bars=bars, notes=notes) for row in section.rows)
    return f"<h2>{safe(section.title)}</h2><table><tr>{head}</tr>{body}</table>{lines}"


def _heading(section: Section, place: int, name: str) -> str:
    kind = ' class="n"' if place in section.right else ""
    return f"<th{kind}>{safe(name)}</th>" if name else "<td></td>"


def _row(section: Section, row: Row, *, bars: bool, notes: bool) -> str:
    first, *others = row.cells
    cells = [f"<td>{safe(first)}</td>"]
    cells += [
        f'<td class="{"n" if place in section.right else "i"}">{safe(cell)}</td>'
        for place, cell in enumerate(others, 1)
    ]
    if bars:
        kind = next((kind for outcome, kind in CLASSES.items() if outcome == row.cells[0]), "muted")
        cells.append(f"<td>{_bar(row.bar, kind) if row.bar is not None else ''}</td>")
    if notes:
        cells.append(f'<td class="muted">{safe(row.note)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _bar(bar: Bar, kind: str) -> str:
    """Return a bar 160 pixels wide in the color of a class, with a line for its interval in that of text."""
    width = 160 * max(0.0, min(1.0, bar.share))
    span = ""
    if bar.low is not None and bar.high is not None:
        span = f'<path d="M{160 * bar.low:.1f} 6H{160 * bar.high:.1f}" stroke="currentColor" stroke-width="3"/>'
    return (
        '<svg width="160" height="12" aria-hidden="true"><rect width="160" height="12" fill="#8884"/>'
        f'<rect class="{kind}" width="{width:.1f}" height="12" fill="currentColor"/>{span}</svg>'
    )


def failure_words(item: Item) -> str:
    """Explain a rollout's outcome in one sentence. Parts are untrusted text."""
    words = item.comparison.sentence if item.comparison else ""
    return words or sentence(item.rollout.reason, item.rollout.subject, item.rollout.outcome)


def passage_part(passage: Passage, text: str | None = None) -> str:
    """Return a passage of a conversation, with instructions folded.

    Args:
        passage: the passage.
        text: HTML that replaces the passage's text.
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
    """Return a table of expected and actual.

    Args:
        comparison: the comparison.
        longest: maximum number of characters in a value.
        most: maximum number of rows; None: all.
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


def _lines(whole: Pair, longest: int) -> Iterable[str]:
    paths = structured(whole)
    pair = paths.pair
    yield _line(pair.name_mark, ("", pair.expected, pair.actual, pair.note), longest)
    for row in pair.rows:
        actual = "—" if row.actual is None else row.actual
        note = row.note or "may be left out" * row.optional
        yield _line(row.mark, (row.name, " | ".join(row.expected), actual, note), longest)
    if paths.equal:
        yield _line(Mark.SAME, ("", "", "", equal_paths(paths.equal)), longest)


def _line(mark: Mark, texts: tuple[str, str, str, str], longest: int) -> str:
    off = "" if mark in (Mark.SAME, Mark.OMITTED) else ' class="off"'
    name, expected, actual, note = (safe(text, longest) for text in texts)
    return (
        f"<tr{off}><td>{safe(mark.value)}</td><td>{name}</td><td><code>{expected}</code></td>"
        f'<td><code>{actual}</code></td><td class="muted">{note}</td></tr>'
    )


def safe(text: str, longest: int = LONGEST) -> str:
    """Escape untrusted text for an element or a quoted attribute."""
    shown = text if len(text) <= longest else f"{text[:longest]} … {len(text) - longest} more characters"
    return html.escape(visible(shown), quote=True)
