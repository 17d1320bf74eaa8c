"""Executing the calls of a web-search conversation: each call is tried, and again with what it turned out to need."""

from dataclasses import dataclass, field
from typing import Any

from console.llm.browsing import NoPage, WebAccess
from console.suites.bfcl.simulator_state import World
from console.suites.bfcl.web_search.functions import Fetch, Got, Want, WebSearchAPI

_CLASS = "WebSearchAPI"
_MOST_WANTS = 20
"""Searches and pages of one call text, which may hold calls in calls."""


@dataclass(slots=True)
class Browsing:
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
        """Nothing is held anywhere."""

    async def _call(self, call: str) -> str:
        answers: dict[Want, Got] = {}
        while True:
            entry = {"id": self.entry_id, "classes": [_CLASS], "config": self.config, "long_context": False}
            world = World({_CLASS: lambda: WebSearchAPI(answers)}, entry, "model")
            [result] = world.execute([call])
            wants = world.instances[_CLASS].wanted
            if not wants or len(answers) >= _MOST_WANTS:
                return result
            for want in wants:
                answers[want] = await self._ask(want)

    async def _ask(self, want: Want) -> Got:
        if not isinstance(want, Fetch):
            return Got(await self.web.search(want.keywords, want.region))
        try:
            return Got(await self.web.page(want.url))
        except NoPage as trouble:
            return Got(complaint=str(trouble))
