"""The two functions a model can call, over answers that are known already; what is not known yet is asked for.

Calls are executed as ordinary functions, and the web can only be awaited. So a call that needs something unknown says
what (`unanswered`) and is executed again once that is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.conversation.web_search.text import markdown, plain_text

_NOTHING = "Failed to retrieve the search results from server. Please try again later."


@dataclass(frozen=True, slots=True)
class Search:
    """One question to the search engine."""

    keywords: str
    region: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """One page."""

    url: str


WebRequest = Search | Fetch


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """The answer to a request: the search service's answer or a page's text, or why there is no page."""

    answer: Any = None
    complaint: str = ""


class NotAnswered(Exception):
    """A call needs something that is not known yet; never seen by a model."""


class WebSearchAPI:
    """What a model can call. The class name shows in Python's complaints about arguments."""

    def __init__(self, answers: Mapping[WebRequest, WebAnswer]) -> None:
        """Start with the answers that are there already."""
        self._answers = answers
        self._show_snippet = True
        self._unanswered: list[WebRequest] = []

    def _load_scenario(self, scenario: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._show_snippet = scenario.get("show_snippet", True)

    @property
    def unanswered(self) -> list[WebRequest]:
        """The requests that had no answer."""
        return self._unanswered

    def search_engine_query(self, keywords: Any, max_results: Any = 10, region: Any = "wt-wt") -> Any:
        """Return titles and addresses of results, with snippets unless the entry hides them."""
        answer = self._get(Search(str(keywords), str(region))).answer
        if "organic_results" not in answer:
            return {"error": str(answer.get("error") or _NOTHING)}
        results = cast(list[dict[str, Any]], answer["organic_results"])[:max_results]
        return [self._shown(result) for result in results]

    def fetch_url_content(self, url: Any, mode: Any = "raw") -> dict[str, str]:
        """Return a page's source, its Markdown or its bare text; trouble is described.

        Raises:
            ValueError: not an http(s) address; the model sees the text.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"Invalid URL: {url}")
        got = self._get(Fetch(url))
        if got.complaint:
            return {"error": f"An error occurred while fetching {url}: {got.complaint}"}
        match mode:
            case "raw":
                return {"content": got.answer}
            case "markdown":
                return {"content": markdown(got.answer)}
            case "truncate":
                return {"content": plain_text(got.answer)}
            case _:
                return {"error": f"An error occurred while fetching {url}: Unsupported mode: {mode}"}

    def _get(self, request: WebRequest) -> WebAnswer:
        if request not in self._answers:
            self._unanswered.append(request)
            raise NotAnswered
        return self._answers[request]

    def _shown(self, result: dict[str, Any]) -> dict[str, Any]:
        shown = {"title": result.get("title", ""), "href": result.get("link", "")}
        return shown | ({"body": result.get("snippet", "")} if self._show_snippet else {})
