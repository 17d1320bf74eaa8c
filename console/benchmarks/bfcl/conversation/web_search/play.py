"""Executes the calls of a web-search conversation.

The two functions for models are synchronous, while the web is asynchronous. A call records its missing answers
(`unanswered`) and is executed again after they are fetched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from console.benchmarks.bfcl.conversation.web_search.text import markdown, plain_text
from console.benchmarks.bfcl.simulators.state import Simulators
from console.llm.web.browsing import NoPage, WebAccess

_NOTHING = "Failed to retrieve the search results from server. Please try again later."


@dataclass(frozen=True, slots=True)
class Search:
    """A search request."""

    keywords: str
    region: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """A page request."""

    url: str


WebRequest = Search | Fetch


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """Response to a request: search results, a page, or an error."""

    answer: Any = None
    error: str = ""


class NotAnswered(Exception):
    """A call needs an answer that has not been fetched yet; never shown to a model."""


class WebSearchAPI:
    """The functions that models can call; Python's error messages show them the class name."""

    def __init__(self, answers: Mapping[WebRequest, WebAnswer]) -> None:
        self._answers = answers
        self._show_snippet = True
        self._unanswered: list[WebRequest] = []

    def _load_scenario(self, scenario: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._show_snippet = scenario.get("show_snippet", True)

    @property
    def unanswered(self) -> list[WebRequest]:
        """Requests that have no answer yet."""
        return self._unanswered

    def search_engine_query(self, keywords: Any, max_results: Any = 10, region: Any = "wt-wt") -> Any:
        """Return titles and URLs of results, with snippets unless the entry hides them."""
        answer = self._get(Search(str(keywords), str(region))).answer
        if "organic_results" not in answer:
            return {"error": str(answer.get("error") or _NOTHING)}
        results = cast(list[dict[str, Any]], answer["organic_results"])[:max_results]
        return [self._shown(result) for result in results]

    def fetch_url_content(self, url: Any, mode: Any = "raw") -> dict[str, str]:
        """Return a page as source, Markdown or plain text, or an error.

        Raises:
            ValueError: not an HTTP(S) URL; the model sees the message.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"Invalid URL: {url}")
        got = self._get(Fetch(url))
        if got.error:
            return {"error": f"An error occurred while fetching {url}: {got.error}"}
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


_CLASS = "WebSearchAPI"
_MOST_REQUESTS = 20
"""Maximum number of requests of one call, which may contain nested calls."""


@dataclass(slots=True)
class WebSearchExecution:
    """Executes web-search calls, without state between calls."""

    entry_id: str
    config: dict[str, Any]
    web: WebAccess
    executed: list[list[str]] = field(default_factory=list[list[str]])

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step.

        Raises:
            Fault: the search service failed.
        """
        return [await self._call(call) for call in calls]

    async def end(self) -> None:
        """Do nothing, as no worker is used."""

    async def _call(self, call: str) -> str:
        answers: dict[WebRequest, WebAnswer] = {}
        while True:
            entry = {"id": self.entry_id, "classes": [_CLASS], "config": self.config, "long_context": False}
            simulators = Simulators({_CLASS: lambda: WebSearchAPI(answers)}, entry, "model")
            [result] = simulators.execute([call])
            requests = simulators.instances[_CLASS].unanswered
            if not requests or len(answers) >= _MOST_REQUESTS:
                return result
            for request in requests:
                answers[request] = await self._ask(request)

    async def _ask(self, request: WebRequest) -> WebAnswer:
        if not isinstance(request, Fetch):
            return WebAnswer(await self.web.search(request.keywords, request.region))
        try:
            return WebAnswer(await self.web.page(request.url))
        except NoPage as error:
            return WebAnswer(error=str(error))
