"""Search query over all conversations: words, "phrases", prefixes (`word*`), exclusions (`-word`), and filter terms.

    refund "very sorry" -thanks cancel* is:failed suite:shop

A conversation matches if it contains every term anywhere and no excluded one, and satisfies the filter
(`insight.filter`, with the additional fields `run` and `suite`). A word is a run of letters and digits; in scripts
written without spaces, every character is a word. Case and accents are ignored. Only this module splits text into
words, for the index, for queries and for highlighting.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from console.insight.filter import FIELD_NAMES, Filter, read_filter
from console.insight.passage import Passage, PassageKind

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]{{1,60}}")
_ASCII_WORD = re.compile("[a-z0-9]{1,60}")
"""Pattern of words in lower-case ASCII text; longer runs of letters count as several words."""
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{400,}")
"""Pattern of encoded data, such as images, which is not indexed."""
_BOUNDARY = " \N{PILCROW SIGN} "
"""Separator that keeps a phrase from matching across two passages; no word contains it."""
_TERM = re.compile(
    r"""(?P<not>[-!]?)(?:(?P<field>[A-Za-z_]+)(?P<sign>[:<>]=?)(?P<value>"[^"]*"|[^\s"]+)"""
    r"""|"(?P<phrase>[^"]*)"?(?P<star>\*?)|(?P<word>[^\s"]+))"""
)
_RUN_FIELDS = ("run", "suite")
INDEXED_AS = 1
"""Version of the index: changes with the definition of a word, and with the passages that are searched."""


_NO_FILTER = Filter()


class Term(NamedTuple):
    """A word, or several consecutive words."""

    words: tuple[str, ...]
    is_prefix: bool = False
    """True if the last word is a prefix."""

    @property
    def expression(self) -> str:
        """The term in the language of SQLite's FTS5; words need no escaping."""
        return f'"{" ".join(self.words)}"{" *" if self.is_prefix else ""}'


class Span(NamedTuple):
    """A word of a text and its position."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query."""

    text: str = ""
    """The query as typed."""
    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    filter: Filter = _NO_FILTER
    runs: tuple[str, ...] = ()
    """Parts of run names, one of which must match, in lower case; empty for all runs."""
    suites: tuple[str, ...] = ()
    """Parts of suite names, one of which must match; empty for all suites."""

    @property
    def expression(self) -> str:
        """The terms in the language of SQLite's FTS5; empty if there is nothing to search for."""
        if not self.terms:
            return ""
        wanted = " AND ".join(term.expression for term in self.terms)
        return f"({wanted})" + "".join(f" NOT {term.expression}" for term in self.excluded)

    def covers(self, run: str, suite: str) -> bool:
        parts = ((self.runs, run.casefold()), (self.suites, suite.casefold()))
        return all(not wanted or any(part in name for part in wanted) for wanted, name in parts)


def read_query(text: str, filter_text: str = "") -> SearchQuery:
    """Parse a query; any text is valid, except for malformed filter terms.

    Args:
        text: words, phrases, exclusions and filter terms.
        filter_text: additional filter terms.

    Raises:
        UsageError: a filter term has a bad value.
    """
    terms: list[Term] = []
    excluded: list[Term] = []
    names: dict[str, list[str]] = {field: [] for field in _RUN_FIELDS}
    filters: list[str] = []
    for source, is_filter in ((text, False), (filter_text, True)):
        for match in _TERM.finditer(source):
            field = (match["field"] or "").lower()
            if field in names and not match["not"] and match["sign"] == ":":
                names[field] += [part.casefold() for part in match["value"].strip('"').split(",") if part]
            elif is_filter or (field and field in FIELD_NAMES):
                filters.append(match[0].replace("-", "!", 1) if match["not"] == "-" else match[0])
            elif term := _term(match):
                (excluded if match["not"] else terms).append(term)
    runs, suites = (tuple(names[field]) for field in _RUN_FIELDS)
    return SearchQuery(text.strip(), tuple(terms), tuple(excluded), read_filter(" ".join(filters)), runs, suites)


def _term(match: re.Match[str]) -> Term | None:
    typed = match["phrase"] if match["phrase"] is not None else match[0].removeprefix(match["not"])
    words = tuple(span.word for span in words_of(typed))
    return Term(words, bool(match["star"]) or typed.endswith("*")) if words else None


def words_of(text: str) -> Iterator[Span]:
    """Yield the words of a text in the form used for comparison, with their positions."""
    for match in _WORD.finditer(text):
        yield Span(_folded(match[0]), match.start(), match.end())


@lru_cache(100_000)
def _folded(word: str) -> str:
    """Return a word without case, accents and compatibility forms."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word)
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare.casefold()) or word


def composed(text: str) -> str:
    """Return a text in composed form, so that separate accents do not end a word."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_searched(passage: Passage) -> bool:
    """Return whether a passage is searched; repetitions of other passages and bare numbers are not."""
    return not passage.repeats and passage.kind is not PassageKind.SCORE


def passage_text(passage: Passage) -> str:
    """Return the searched text of a passage."""
    return composed(f"{passage.head}: {passage.text}" if passage.head else passage.text)


def index_text(passages: Iterable[Passage]) -> str:
    """Return the words of a conversation for the index, separated by spaces."""
    return _BOUNDARY.join(_index_words(passage_text(passage)) for passage in passages if is_searched(passage))


def _index_words(text: str) -> str:
    text = _ENCODED.sub(" ", text)
    if text.isascii():
        return " ".join(_ASCII_WORD.findall(text.lower()))
    return " ".join(span.word for span in words_of(text))


class Excerpt(NamedTuple):
    """Part of a passage around its matches, on one line. Untrusted text."""

    text: str
    marks: tuple[tuple[int, int], ...]
    """Positions of the matches in it, in order."""


def best_passage(passages: Sequence[Passage], terms: Sequence[Term]) -> Passage | None:
    """Return the first of the passages that contain most of the terms, instructions last; None if none contains any."""
    best, most = None, (0, False)
    for passage in filter(is_searched, passages):
        spans = list(words_of(passage_text(passage)))
        count = sum(any(True for _ in _occurrences(spans, term)) for term in terms)
        rank = count, passage.kind is not PassageKind.SYSTEM
        if count and rank > most:
            best, most = passage, rank
        if most == (len(terms), True):
            break
    return best


def marks_in(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return the spans of terms in a text, in order, without overlaps."""
    spans = list(words_of(text))
    places = sorted({place for term in terms for place in _occurrences(spans, term)})
    marks: list[tuple[int, int]] = []
    for start, end in places:
        if marks and start < marks[-1][1]:
            marks[-1] = marks[-1][0], max(end, marks[-1][1])
        else:
            marks.append((start, end))
    return marks


def _occurrences(spans: Sequence[Span], term: Term) -> Iterator[tuple[int, int]]:
    *head, last = term.words
    for place in range(len(spans) - len(head)):
        final = spans[place + len(head)]
        is_last = final.word.startswith(last) if term.is_prefix else final.word == last
        if is_last and all(spans[place + number].word == word for number, word in enumerate(head)):
            yield spans[place].start, final.end


def excerpt(text: str, terms: Sequence[Term], width: int) -> Excerpt:
    """Return about `width` characters of a text around the first match, whitespace collapsed."""
    flat = " ".join(text.split())
    marks = marks_in(flat, terms)
    first = marks[0][0] if marks else 0
    start = max(0, min(first - width // 3, len(flat) - width))
    if start:
        start = flat.find(" ", start, first) + 1 or start
    end = min(len(flat), start + width)
    before, after = "… " if start else "", " …" if end < len(flat) else ""
    shift = len(before) - start
    shown = tuple((a + shift, min(b, end) + shift) for a, b in marks if start <= a < end)
    return Excerpt(f"{before}{flat[start:end]}{after}", shown)
