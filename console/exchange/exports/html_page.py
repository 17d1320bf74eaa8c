"""Export to a single HTML file for sharing: numbers with bars, and every failure with expected and actual.

The page is inert: all untrusted text is escaped, its control characters are made visible, there are no scripts or
links, and a content policy forbids everything except the embedded style sheet, which also filters by reason. Bars are
inline SVG.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from console.exchange.document import ANNOTATION_FIELDS, Item, RunDocument
from console.exchange.exports.html_parts import (
    CLASSES,
    STYLE,
    comparison_table,
    failure_words,
    outcomes_table,
    passage_part,
    run_line,
    safe,
    section_part,
    simulated_notice,
)
from console.exchange.exports.media_content import media_html
from console.insight.conversation import Conversation
from console.insight.failures import Group, GroupBy, group
from console.insight.number_format import cost_of, duration, failures_by
from console.insight.report import reason_sections
from console.insight.rollout import Rollout

MOST_EXAMPLES = 20
"""Maximum number of failures shown per reason; the rest are only counted."""
_MOST_FILTERS = 60
"""Maximum number of reasons in the filter; failures with other reasons are always shown."""
MOST_PASSAGES = 200
"""Maximum number of passages in a conversation."""
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
)


def html_page(document: RunDocument) -> str:
    """Return the HTML file."""
    summary = document.summary
    title = f"{safe(summary.model)} on {safe(summary.suite_label)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
    ]
    parts.append(simulated_notice(document.manifest.simulated_note))
    parts += [
        run_line(document),
        outcomes_table(document),
        *map(section_part, document.sections()),
        *map(section_part, reason_sections(document.summary)),
        *_failures(document.items, document.manifest.simulated_note),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _failures(items: Sequence[Item], note: str) -> Iterable[str]:
    """Yield a filter, then examples for every reason."""
    failures = [item for item in items if item.rollout.is_failure or item.annotations]
    if not failures:
        return
    by_slot = {item.rollout.slot: item for item in failures}
    groups = group([item.rollout for item in failures], GroupBy.REASON)
    counts = failures_by(Counter(item.rollout.counted_as for item in failures))
    yield f"<h2>Failures and annotated cases{f' ({counts})' if counts else ''}</h2>"
    yield from _filter(groups)
    for place, part in enumerate(groups):
        shown = _examples(part)
        more = f"; {len(shown)} of them below, all in the other formats" if len(shown) < part.count else ""
        yield f'<section class="r{place}"><h3>{safe(part.label)} <span class="muted">{part.count}{more}</span></h3>'
        yield from (_failure(by_slot[rollout.slot], note) for rollout in shown)
        yield "</section>"


def _examples(part: Group) -> Sequence[Rollout]:
    """Return examples for a reason: the first of each subject, then the second of each, and so on."""
    rounds = zip_longest(*(leaf.rollouts for leaf in part.leaves))
    chosen = [rollout for members in rounds for rollout in members if rollout is not None][:MOST_EXAMPLES]
    return sorted(chosen, key=lambda rollout: rollout.order)


def _filter(groups: Sequence[Group]) -> Iterable[str]:
    """Yield buttons that show a single reason, using style rules instead of scripts."""
    if len(groups) < 2:
        return
    named = list(enumerate(groups[:_MOST_FILTERS]))
    hides = "".join(f"body:has(#f{place}:checked) section:not(.r{place}){{display:none}}" for place, _ in named)
    yield f"<style>{hides}</style>"
    buttons = ['<label><input type="radio" name="f" checked> all</label>']
    buttons += [
        f'<label><input type="radio" name="f" id="f{place}"> {safe(part.label)} {part.count}</label>'
        for place, part in named
    ]
    yield f'<div class="filter" role="group" aria-label="Reason">{"".join(buttons)}</div>'


def _failure(item: Item, note: str) -> str:
    rollout = item.rollout
    kind = CLASSES.get(rollout.outcome, "muted") if rollout.outcome else "muted"
    tag = f" <strong>[{safe(item.annotation('tag'))}]</strong>" if item.annotation("tag") else ""
    messages = item.finished.verdict.messages if item.finished else ()
    parts = [
        f'<details><summary><span class="{kind}">{safe(item.outcome)}</span> <code>{safe(str(rollout.key))}</code> '
        f"{safe(failure_words(item))}{tag}</summary>",
        f'<p class="muted">{safe(rollout.category)}, {duration(rollout.seconds)}, {cost_of(rollout.cost_usd, note)}'
        f"{', ' + safe(rollout.reason) if rollout.reason else ''}</p>",
        f"<p>{safe(rollout.title)}</p>" if rollout.title else "",
        *(
            f"<p>{kind.replace('_', ' ')}: {safe(item.annotation(kind))}</p>"
            for kind in ANNOTATION_FIELDS[1:]
            if item.annotation(kind)
        ),
        f"<pre>{safe(chr(10).join(messages))}</pre>" if messages else "",
        comparison_table(item.comparison) if item.comparison else "",
        _conversation(item.conversation) if item.conversation else "",
        "</details>",
    ]
    return "".join(parts)


def _conversation(conversation: Conversation) -> str:
    """Return the conversation, folded, without repeated passages."""
    passages = [passage for passage in conversation.passages if not passage.repeats]
    body = "".join(passage_part(passage) + media_html(passage) for passage in passages[:MOST_PASSAGES])
    more = f"<p>… and {len(passages) - MOST_PASSAGES} more passages.</p>" if len(passages) > MOST_PASSAGES else ""
    return (
        f"<details><summary>conversation ({len(passages)} passages)</summary>{body}{more}</details>" if passages else ""
    )
