"""The overview of a run with its filtered list, and the same list as pages without scripts."""

import json
from collections.abc import Iterable, Mapping, Sequence

from console.core.case import Slot
from console.core.statistics.intervals import WEIGHTED
from console.core.text import visible_line
from console.exchange.document import Item, RunDocument
from console.exchange.exports.html_parts import (
    CLASSES,
    failure_words,
    outcomes_table,
    run_line,
    safe,
    section_part,
)
from console.exchange.site.frame import Link, anchor, scrolling, site_page
from console.exchange.site.site_run import SiteRun, above
from console.insight.failures import Group
from console.insight.run_number import headline, headline_gap, ranking_number, scored_by

LIST = "data/list.js"
_PER_PAGE = 500
_FIRST_ROWS = 100
"""Rows in the overview's list before its script has run, or without it."""
_LONGEST = 160
"""Maximum number of characters in a list cell."""
_FILTERS = """<form class="filters" id="filters" role="search" aria-label="Filter the list" hidden>
<label>Search <input id="text" type="search" autocomplete="off" aria-keyshortcuts="/"></label>
<label>Outcome <select id="outcome"><option value="">all</option></select></label>
<label>Reason <select id="reason"><option value="">all</option></select></label>
<label>Category <select id="category"><option value="">all</option></select></label>
</form>
<p id="count" role="status"></p>"""
_HEAD = "<thead><tr><th>outcome</th><th>case</th><th>category</th><th>why</th></tr></thead>"


def overview_page(run: SiteRun, document: RunDocument) -> str:
    """Return the run's first page: its numbers, failure reasons and list."""
    items = {item.rollout.slot: item for item in document.items}
    links = [Link("Cases", "#cases")]
    links += [Link("First failure", run.case_page(run.failures[0].slot), "n")] if run.failures else []
    rows = "".join(_row(run, items[rollout.slot]) for rollout in run.order[:_FIRST_ROWS])
    body = [
        run_line(document),
        f'<p class="verdict"><strong>{safe(headline(document.summary))}</strong> '
        f'<span class="muted">{_basis(document)}</span></p>',
        f'<nav class="steps" aria-label="On this page">{" ".join(map(anchor, links))}</nav>',
        outcomes_table(document),
        _reasons(run),
        *(
            scrolling("Numbers of the report", section_part(section)) if section.rows else section_part(section)
            for section in document.sections()
        ),
        f'<h2 id="cases">Cases ({len(run.order)})</h2>',
        _FILTERS,
        f'<table class="list">{_HEAD}<tbody id="rows">{rows}</tbody></table>',
        '<p><button id="more" type="button" hidden>Show more</button></p>',
        _pages(run),
    ]
    return site_page(
        run.title,
        body,
        root=run.root,
        up=above(run, run.root, is_overview=True),
        scripts=[f"{run.folder}{LIST}"],
        simulated_note=document.manifest.simulated_note,
    )


def _basis(document: RunDocument) -> str:
    """Describe the headline and its basis."""
    summary = document.summary
    gap = safe(headline_gap(summary))
    if summary.is_shown_by_look:  # the headline says what it rests on
        basis = ""
    elif scored_by(summary):
        basis = f"of {summary.tally.finished} rollouts"
    elif (number := ranking_number(summary)).value is None:
        basis = ""
    elif number.method == WEIGHTED:
        basis = "by the official formula, with the 95 % interval"
    else:
        basis = f"passed of {summary.tally.graded} graded, with the 95 % interval"
    return "; ".join(filter(None, (basis, gap)))


def _failing(run: SiteRun) -> list[Group]:
    return [part for part in run.groups if any(rollout.is_failure for rollout in part.rollouts)]


def _page_of(place: int) -> str:
    return f"list-{place // _PER_PAGE + 1}.html"


def _reasons(run: SiteRun) -> str:
    rows = "".join(
        f"<tr><td>{anchor(Link(part.label, _group_href(run, number, part)))}</td>"
        f'<td class="n">{part.count}</td><td class="n">{_share(part, run)}</td></tr>'
        for number, part in enumerate(_failing(run))
    )
    head = '<tr><th>reason</th><th class="n">cases</th><th class="n">of failures</th></tr>'
    return f"<h2>Why</h2><table>{head}{rows}</table>" if rows else ""


def _share(part: Group, run: SiteRun) -> str:
    return f"{part.count / max(len(run.failures), 1):.0%}"


def _group_href(run: SiteRun, number: int, part: Group) -> str:
    first = part.leaves[0].rollouts[0]
    return f"{_page_of(run.places[first.slot])}#g{number}"


def _pages(run: SiteRun) -> str:
    links = [Link(str(number), f"list-{number}.html") for number in range(1, _page_count(run) + 1)]
    return f'<nav aria-label="Pages of the list"><p>The whole list in pages: {" ".join(map(anchor, links))}</p></nav>'


def _page_count(run: SiteRun) -> int:
    return max(1, -(-len(run.order) // _PER_PAGE))


def list_pages(run: SiteRun, document: RunDocument) -> Mapping[str, str]:
    """Return the pages of the whole list in reading order by name, for browsers without scripts."""
    items = {item.rollout.slot: item for item in document.items}
    starts: dict[Slot, tuple[int, Group]] = {
        part.leaves[0].rollouts[0].slot: (number, part) for number, part in enumerate(run.groups)
    }
    pages: dict[str, str] = {}
    for number in range(1, _page_count(run) + 1):
        first = (number - 1) * _PER_PAGE
        body = [_steps(run, number), *_grouped(run, first, items, starts)]
        title = f"{run.title}: cases, page {number} of {_page_count(run)}"
        note = document.manifest.simulated_note
        page = site_page(title, body, root=run.root, up=above(run, run.root), simulated_note=note)
        pages[f"list-{number}.html"] = page
    return pages


def _steps(run: SiteRun, number: int) -> str:
    links = [Link("Previous page", f"list-{number - 1}.html")] if number > 1 else []
    links += [Link("Next page", f"list-{number + 1}.html")] if number < _page_count(run) else []
    return f'<nav class="steps" aria-label="Pages">{" ".join(map(anchor, links))}</nav>' if links else ""


def _grouped(
    run: SiteRun, first: int, items: Mapping[Slot, Item], starts: Mapping[Slot, tuple[int, Group]]
) -> Iterable[str]:
    rows: list[str] = []
    heading = '<h2 class="skip">Cases</h2>'
    for rollout in run.order[first : first + _PER_PAGE]:
        if rollout.slot in starts:
            yield from _table(heading, rows)
            number, part = starts[rollout.slot]
            heading = f'<h2 id="g{number}">{safe(part.label, _LONGEST)} ({part.count})</h2>'
            rows = []
        rows.append(_row(run, items[rollout.slot]))
    yield from _table(heading, rows)


def _table(heading: str, rows: Sequence[str]) -> Iterable[str]:
    if rows:
        yield f'{heading}<table class="list">{_HEAD}<tbody>{"".join(rows)}</tbody></table>'


def _cells(item: Item) -> tuple[str, str, str, str]:
    """Return the outcome, case, category and reason, each on one line. Untrusted text."""
    why = failure_words(item) if item.rollout.is_failure or item.rollout.reason else item.rollout.title
    tag = f"[{item.annotation('tag')}] " if item.annotation("tag") else ""
    return item.outcome.replace("_", " "), str(item.rollout.key), item.rollout.category, f"{tag}{why}"


def _row(run: SiteRun, item: Item) -> str:
    outcome, case, category, why = _cells(item)
    kind = CLASSES.get(item.rollout.outcome, "muted") if item.rollout.outcome else "muted"
    return (
        f'<tr><td class="{kind}">{safe(outcome)}</td>'
        f'<td><a href="{run.case_page(item.rollout.slot)}">{safe(case, _LONGEST)}</a></td>'
        f"<td>{safe(category, _LONGEST)}</td><td>{safe(why, _LONGEST)}</td></tr>"
    )


def list_data(run: SiteRun, document: RunDocument) -> str:
    """Return the list as a script that sets one variable, because a page opened from disk may not read other files.

    Rows are (page number, outcome, group, category, case, reason), where outcome, group and category are indices of
    the lists that come with them; outcomes are (word, style).
    """
    items = {item.rollout.slot: item for item in document.items}
    outcomes: dict[tuple[str, str], int] = {}
    categories: dict[str, int] = {}
    rows: list[tuple[int, int, int, int, str, str]] = []
    for number, part in enumerate(run.groups):
        for rollout in (member for leaf in part.leaves for member in leaf.rollouts):
            outcome, case, category, why = _cells(items[rollout.slot])
            kind = CLASSES.get(rollout.outcome, "muted") if rollout.outcome else "muted"
            rows.append(
                (
                    run.numbers[rollout.slot],
                    outcomes.setdefault((outcome, kind), len(outcomes)),
                    number,
                    categories.setdefault(_line(category), len(categories)),
                    _line(case),
                    _line(why),
                )
            )
    data = {
        "outcomes": list(outcomes),
        "groups": [_line(part.label) for part in run.groups],
        "categories": list(categories),
        "rows": rows,
    }
    return f"window.siteList = {script_value(data)};\n"


def _line(text: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    return visible_line(shown)


def script_value(value: object) -> str:
    """Return a value as ASCII JavaScript without markup."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
