"""Recorded answers that replace the web, for offline and reproducible runs.

    {"searches": [{"keywords": "…", "results": [{"title", "link", "snippet"}, …]}, …],
     "pages": {"https://…": "<html>…"}}

Recorded keywords return their own results. Other keywords return the best among all recorded results that share a word
(BM25+ over title and snippet). Other pages do not exist.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from console.benchmarks.bfcl.conversation.memory.bm25 import Ranking
from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.ready_type import ready_type
from console.llm.web.browsing import NoPage

_MOST = 30


class _Result(msgspec.Struct, frozen=True):
    title: str
    link: str
    snippet: str = ""


class _Recorded(msgspec.Struct, frozen=True):
    keywords: str
    results: list[_Result]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    searches: list[_Recorded] = []
    pages: dict[str, str] = {}


class RecordedWeb:
    """Same interface as `console.llm.web.live.Web`, answered from a file."""

    def __init__(self, searches: dict[str, list[_Result]], pages: dict[str, str]) -> None:
        self._searches, self._pages = searches, pages
        by_link = {result.link: result for results in searches.values() for result in results}
        self._every = list(by_link.values())
        self._ranking = (
            Ranking([_words(f"{result.title} {result.snippet}") for result in self._every]) if by_link else None
        )

    async def search(self, keywords: str, region: str) -> dict[str, Any]:
        """Return recorded results in the search service's format."""
        del region
        exact = self._searches.get(_plain(keywords))
        results = self._nearest(keywords) if exact is None else exact
        if not results:
            return {"error": f"no recorded results for {keywords!r}"}
        return {"organic_results": [msgspec.to_builtins(result) for result in results]}

    async def page(self, url: str) -> str:
        """Return a recorded page.

        Raises:
            NoPage: the page was not recorded.
        """
        if url not in self._pages:
            raise NoPage(f"404 Client Error: not among the recorded pages for url: {url}")
        return self._pages[url]

    def _nearest(self, keywords: str) -> list[_Result]:
        if self._ranking is None:
            return []
        scored = zip(self._ranking.scores(_words(keywords)), self._every, strict=True)
        # BM25+ adds δ even for texts without a query word, so require a common word.
        words = set(_words(keywords))
        fitting = [
            (score, result) for score, result in scored if words & set(_words(f"{result.title} {result.snippet}"))
        ]
        return [result for _, result in sorted(fitting, key=lambda pair: pair[0], reverse=True)][:_MOST]


def _plain(keywords: str) -> str:
    return " ".join(keywords.lower().split())


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.lower()).split()


def read_recorded(path: Path) -> RecordedWeb:
    """Read a file of recorded answers, cached until it changes.

    Raises:
        UsageError: unreadable or invalid file.
    """
    with os_errors_as("the recorded answers cannot be read", where=path):
        changed = path.stat().st_mtime_ns
    return _read(path, changed)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> RecordedWeb:
    del changed
    try:
        content = msgspec.convert(json.loads(path.read_bytes()), ready_type(_File))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the recorded answers are invalid: {reason_of(error)}", where=str(path)) from None
    return RecordedWeb({_plain(search.keywords): search.results for search in content.searches}, content.pages)
