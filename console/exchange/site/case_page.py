"""Page of a case: its verdict in words, expected and actual, and the conversation, limited in size."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from console.core.text import visible
from console.exchange.document import ANNOTATION_FIELDS, Item
from console.exchange.exports.html_parts import CLASSES, comparison_table, failure_words, passage_part, safe
from console.exchange.exports.media_content import media_html
from console.exchange.site.frame import Link, anchor, scrolling, site_page
from console.exchange.site.site_run import SiteRun, above
from console.insight.number_format import cost_of, duration
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import hint

_SHARED_FROM = 400
"""Minimum number of characters of a repeated text that gets its own page."""
_MOST_SHARED = 5_000_000
"""Maximum total number of bytes in such pages of a site; repeated texts beyond it are cut on each page."""
_STEPS = ((4000, 2000), (1000, 200), (300, 60), (120, 20), (60, 6))
"""Limits (characters of a value, rows of a comparison), tried from largest to smallest."""
_AROUND_PASSAGE = 90
"""Bytes of a passage in addition to its text."""
_KINDS = (PassageKind.SYSTEM, PassageKind.USER)


@dataclass(slots=True)
class SharedTexts:
    """Long texts shared by conversations, such as instructions; each is written once."""

    pages: dict[str, str] = field(default_factory=dict[str, str])
    """Pages to be written, by path from the root of the site."""
    _places: dict[bytes, str] = field(default_factory=dict[bytes, str])
    """Page by digest of its text; empty after the text's first occurrence."""
    _bytes: int = 0

    def place(self, passage: Passage, *, simulated_note: str) -> str:
        """Return the page of a passage's text; empty if the text is written inline."""
        if passage.kind not in _KINDS or len(passage.text) < _SHARED_FROM:
            return ""
        digest = blake2b(passage.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        place = self._places.get(digest)
        if place is None:
            self._places[digest] = ""
            return ""
        if not place and self._bytes < _MOST_SHARED:
            place = f"texts/{len(self.pages) + 1:05}.html"
            page = site_page(
                f"{passage.kind.value.capitalize()} text of several cases",
                [f"<pre>{cut_middle(passage.text, 200_000)}</pre>"],
                root="../",
                up=[Link("Overview", "../index.html", "u")],
                simulated_note=simulated_note,
            )
            self.pages[place] = page
            self._places[digest] = place
            self._bytes += len(page.encode())
        return place


def case_page(run: SiteRun, item: Item, partners: Sequence[Link], shared: SharedTexts, room: int) -> str:
    """Return the page.

    Args:
        run: the run.
        item: the rollout, with its conversation.
        partners: the same case in other runs of the site.
        shared: texts shared between pages.
        room: maximum number of bytes in the page; longer content is cut with a note.
    """
    root = run.root + "../"
    title = str(item.rollout.key)

    def page(body: Iterable[str]) -> str:
        return site_page(title, body, root=root, up=above(run, root), simulated_note=run.reader.manifest.simulated_note)

    parts = [_steps(run, item), *_verdict(run, item, partners, min(4000, room // 8))]
    left = room - len(page(parts).encode())
    if item.comparison is not None:
        parts += _comparison(item, left * 2 // 3)
        left = room - len(page(parts).encode())
    parts += _conversation(run, item, shared, max(left, 300))
    return page(parts)


def _steps(run: SiteRun, item: Item) -> str:
    """Return links to the neighbors in reading order, and to the neighboring failures."""
    place = run.places[item.rollout.slot]
    before, after = run.failures_around(place)
    neighbors = (
        ("Previous failure", "N", before),
        ("Next failure", "n", after),
        ("Previous case", "k", run.order[place - 1] if place else None),
        ("Next case", "j", run.order[place + 1] if place + 1 < len(run.order) else None),
    )
    links = [
        Link(label, run.case_page(rollout.slot).removeprefix("cases/"), key)
        for label, key, rollout in neighbors
        if rollout is not None
    ]
    return f'<nav class="steps" aria-label="Cases">{" ".join(map(anchor, links))}</nav>' if links else ""


def _verdict(run: SiteRun, item: Item, partners: Sequence[Link], longest: int) -> Iterable[str]:
    rollout = item.rollout
    kind = CLASSES.get(rollout.outcome, "muted") if rollout.outcome else "muted"
    word = item.outcome.replace("_", " ")
    words = failure_words(item) if rollout.is_failure or rollout.reason else ""
    why = f": {safe(words, longest)}" if words and words != word else ""
    yield f'<p class="verdict {kind}"><strong>{safe(word)}</strong>{why}</p>'
    cost = cost_of(rollout.cost_usd, run.reader.manifest.simulated_note)
    facts = [rollout.category, duration(rollout.seconds), cost, rollout.reason]
    yield f'<p class="muted">{", ".join(safe(fact, longest) for fact in facts if fact)}</p>'
    if rollout.title:
        yield f"<p>{safe(rollout.title, longest)}</p>"
    for field_name in ANNOTATION_FIELDS:
        if text := item.annotation(field_name):
            yield f"<p>{field_name.replace('_', ' ')}: {safe(text, longest)}</p>"
    if partners:
        yield f"<p>Elsewhere: {', '.join(map(anchor, partners))}</p>"
    messages = "\n".join(item.finished.verdict.messages) if item.finished else ""
    if messages and messages != words:
        yield f"<h2>Verdict</h2><pre>{cut_middle(messages, longest)}</pre>"
    advice = hint(rollout.reason) if rollout.outcome is not None and not rollout.outcome.is_graded else ""
    if advice:
        yield f"<p>{safe(advice)}</p>"


def _comparison(item: Item, room: int) -> Iterable[str]:
    assert item.comparison is not None
    table = ""
    for longest, most in _STEPS:
        table = comparison_table(item.comparison, longest=longest, most=most)
        if len(table.encode()) <= room:
            break
    if table:
        yield "<h2>Expected and actual</h2>" + scrolling("Expected and actual", table)


def _conversation(run: SiteRun, item: Item, shared: SharedTexts, room: int) -> Iterable[str]:
    conversation = item.conversation
    passages = [passage for passage in conversation.passages if not passage.repeats] if conversation else []
    passages = [passage for passage in passages if passage.kind is not PassageKind.VERDICT]
    if not passages:
        return
    most = max(2, room // (_AROUND_PASSAGE + 60))
    half = most // 2
    first, last = (passages, []) if len(passages) <= most else (passages[:half], passages[len(passages) - half :])
    shown = [*first, *last]
    places = [shared.place(passage, simulated_note=run.reader.manifest.simulated_note) for passage in shown]
    lengths = [120 if place else len(passage.text) for passage, place in zip(shown, places, strict=True)]
    limit = even_limit(lengths, room - _AROUND_PASSAGE * len(shown))
    parts = [
        passage_part(passage, _text(passage, place, f"{run.root}../", limit)) + media_html(passage)
        for passage, place in zip(shown, places, strict=True)
    ]
    if last:
        parts.insert(len(first), f'<p class="muted">… {len(passages) - len(shown)} passages are left out …</p>')
    yield "<h2>Transcript</h2>"
    yield from parts


def _text(passage: Passage, place: str, root: str, limit: int) -> str:
    if not passage.text.strip():
        return ""
    if place:
        return f'<p><a href="{root}{place}">{safe(passage.text[:60])} …</a></p>'
    return f"<pre>{cut_middle(passage.text, limit)}</pre>"


def even_limit(lengths: Sequence[int], room: int) -> int:
    """Return the length to which texts must be cut for all of them to fit; at least 40."""
    left, rest = room, len(lengths)
    for length in sorted(lengths):
        if length * rest > left:
            return max(left // rest, 40)
        left, rest = left - length, rest - 1
    return max([*lengths, 40])


def cut_middle(text: str, limit: int) -> str:
    """Return untrusted text as HTML of about `limit` bytes, with a note in place of the removed middle."""
    size = limit
    while True:
        shown = text
        if len(text) > size:
            tail = size * 2 // 5
            shown = f"{text[: size - tail]} […{len(text) - size} characters left out…] {text[len(text) - tail :]}"
        escaped = html.escape(visible(shown), quote=False)
        if (needed := len(escaped.encode())) <= limit + 40 or size <= 40:
            return escaped
        size = max(40, min(size * limit // needed, min(size, len(text)) * 9 // 10))
