"""Executing the calls of a web-search conversation: each call is tried, and again with what it turned out to need."""

from dataclasses import dataclass, field
from typing import Any

from console.benchmarks.bfcl.conversation.web_search.functions import Fetch, WebAnswer, WebRequest, WebSearchAPI
from console.benchmarks.bfcl.simulators.state import Simulators
from console.llm.web.browsing import NoPage, WebAccess

_CLASS = "WebSearchAPI"
_MOST_REQUESTS = 20
"""Searches and pages of one call text, which may hold calls in calls."""


@dataclass(slots=True)
class WebSearchExecution:
    """The web as one conversation uses it. Nothing is remembered from one call to the next."""

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
        """Release nothing: no worker is used."""

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
        except NoPage as trouble:
            return WebAnswer(complaint=str(trouble))
