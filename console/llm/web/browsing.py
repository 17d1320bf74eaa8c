"""The interface of web access, live (`live.py`) or recorded, without loading any network client."""

from typing import Any, Protocol

SEARCH_KEY = "SERPAPI_API_KEY"
"""Variable with the key of the search service."""


class NoPage(Exception):
    """A page could not be had; the text is for the model."""


class WebAccess(Protocol):
    """Web search and page access, live or recorded."""

    async def search(self, keywords: str, region: str) -> dict[str, Any]:
        """Return the search service's answer.

        Args:
            keywords: what is looked for.
            region: such as `wt-wt` for none.

        Raises:
            Fault: it has none.
        """
        ...

    async def page(self, url: str) -> str:
        """Return a page's text.

        Raises:
            NoPage: refused, too large, not text, too slow, or not there.
        """
        ...
