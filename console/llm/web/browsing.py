"""The interface of web access, live or recorded; loads no network client."""

from typing import Any, Protocol

SEARCH_KEY = "SERPAPI_API_KEY"
"""Environment variable with the key of the search service."""


class NoPage(Exception):
    """A page could not be fetched; the message is for the model."""


class WebAccess(Protocol):
    """Web search and page access, live or recorded."""

    async def search(self, keywords: str, region: str) -> dict[str, Any]:
        """Return the search service's answer.

        Args:
            keywords: search terms.
            region: region code; `wt-wt` for none.

        Raises:
            Fault: no answer.
        """
        ...

    async def page(self, url: str) -> str:
        """Return the text of a page.

        Raises:
            NoPage: the page is refused, too large, not text, too slow, or missing.
        """
        ...
