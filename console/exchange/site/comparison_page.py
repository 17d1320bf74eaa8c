"""Comparison of two runs of a site: the content of Compare, and the changed cases."""

from collections.abc import Iterable

from console.exchange.exports.html_parts import safe, section_part
from console.exchange.site.frame import Link, anchor, scrolling, site_page
from console.exchange.site.site_run import SiteRun
from console.insight.comparison import CasePair, PairOutcome, RunComparison
from console.insight.comparison_report import (
    change_words,
    comparability_notes,
    comparison_sections,
    served_words,
    verdict_words,
)

_MOST_CHANGES = 5000
_LONGEST = 160
_CLASSES = {PairOutcome.LOST: "fail", PairOutcome.GAINED: "pass"}


def comparison_page(comparison: RunComparison, a: SiteRun, b: SiteRun) -> str:
    """Return the page."""
    part = comparison.counts
    basis = f"{part.cases} cases in both" + (f", {part.rollouts} rollouts" if part.rollouts > part.cases else "")
    left = f", {part.left_out} left out without two grades" if part.left_out else ""
    body = [
        f"<p>A: {anchor(Link(a.title, a.overview))}, run {safe(a.reader.manifest.id)}<br>"
        f"B: {anchor(Link(b.title, b.overview))}, run {safe(b.reader.manifest.id)}</p>",
        f"<p>{basis}{left}</p>",
        *(f"<p>{safe(words)}</p>" for words in (served_words(comparison), *comparability_notes(comparison)) if words),
        f'<p class="verdict"><strong>{safe(verdict_words(comparison))}</strong></p>',
        *_changes(comparison.changes(), a, b),
        *(scrolling(section.title, section_part(section)) for section in comparison_sections(comparison)),
    ]
    up = [Link("All runs", "index.html", "u")]
    return site_page("A and B compared", body, up=up, simulated_note=comparison.simulated_note)


def _changes(changes: list[CasePair], a: SiteRun, b: SiteRun) -> Iterable[str]:
    yield f"<h2>Changed cases ({len(changes)})</h2>"
    if not changes:
        yield "<p>No case changed.</p>"
        return
    rows = "".join(_change(pair, a, b) for pair in changes[:_MOST_CHANGES])
    head = "<thead><tr><th>change</th><th>case</th><th>in B</th><th>why</th></tr></thead>"
    yield f'<table class="list">{head}<tbody>{rows}</tbody></table>'
    if len(changes) > _MOST_CHANGES:
        yield f"<p>… and {len(changes) - _MOST_CHANGES} more.</p>"


def _change(pair: CasePair, a: SiteRun, b: SiteRun) -> str:
    change, why = change_words(pair)
    in_a, in_b = (f"{run.folder}{run.case_page(rollout.slot)}" for run, rollout in ((a, pair.a), (b, pair.b)))
    outcome = pair.b.outcome.value if pair.b.outcome else ""
    return (
        f'<tr><td class="{_CLASSES.get(pair.outcome, "muted")}">{safe(change)}</td>'
        f"<td>{anchor(Link(pair.name, in_a))}</td><td>{anchor(Link(f'B: {outcome}', in_b))}</td>"
        f"<td>{safe(why, _LONGEST)}</td></tr>"
    )
