"""Live web access for models: a search service with a key, and pages at public addresses.

Search failures are machinery: after a bounded number of tries they raise a `Fault` and never count as an answer. A
page that cannot be fetched is an observation: `NoPage` tells the model why. Redirects are followed one by one, each
checked like the first address. Proxies and cookies are not used.
"""

import asyncio
import codecs
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import yarl

from console.config.environment import variable
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object
from console.llm.web.addresses import IsAllowed, PinningResolver, RefusedAddress, check_literal, is_public
from console.llm.web.browsing import SEARCH_KEY, NoPage

SEARCH_ADDRESS = "https://serpapi.com/search.json"
MOST_BYTES = 5_000_000
"""Maximum size of a page, uncompressed."""

_TRIES = 5
_FIRST_WAIT_S = 2.0
_DEADLINE_S = 20.0
_MOST_REDIRECTS = 10
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; eval-console)",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,text/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
}


@dataclass(frozen=True, slots=True)
class Web:
    """Searches and fetches pages; each call opens its own connection."""

    search_address: str = SEARCH_ADDRESS
    is_allowed: IsAllowed = is_public
    most_bytes: int = MOST_BYTES
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def search(self, keywords: str, region: str) -> dict[str, Any]:
        """Return the search service's answer.

        Args:
            keywords: search terms.
            region: region code; `wt-wt` for none.

        Raises:
            Fault: no key (`data`), or no answer after five tries.
        """
        key = variable(SEARCH_KEY)
        if key is None:
            hint = f"Set {SEARCH_KEY}, or choose recorded answers with the option web_recorded."
            raise Fault(FaultKind.DATA, "web search needs a serpapi.com key", hint=hint)
        query = {"engine": "duckduckgo", "q": keywords, "kl": region, "api_key": key}
        for number in range(1, _TRIES + 1):
            try:
                return await self._search_once(query)
            except Fault as fault:
                if not fault.is_retryable or number == _TRIES:
                    raise
            wait = _FIRST_WAIT_S * 2 ** (number - 1)
            await self.pause(wait + random.uniform(0, wait))  # noqa: S311  spreads tries; not for security
        raise AssertionError("the last try raises")

    async def page(self, url: str) -> str:
        """Return the text of a page.

        Raises:
            NoPage: the page is refused, too large, not text, too slow, or missing.
        """
        try:
            async with asyncio.timeout(_DEADLINE_S), self._session(self.is_allowed) as session:
                return await self._follow(session, yarl.URL(url))
        except TimeoutError:
            raise NoPage(f"no answer within {_DEADLINE_S:.0f} s") from None
        except RefusedAddress as refused:
            raise NoPage(f"refused: {refused}") from None
        except aiohttp.InvalidURL:
            raise NoPage("refused: this is not the address of a page") from None
        except (aiohttp.ClientError, OSError, ValueError, LookupError) as error:
            raise NoPage(f"{_root_cause(error)}") from None

    async def _search_once(self, query: Mapping[str, str]) -> dict[str, Any]:
        redact = Redactor([query["api_key"]])
        try:
            async with (
                asyncio.timeout(_DEADLINE_S),
                self._session(lambda _: True) as session,
                session.get(self.search_address, params=query, allow_redirects=False) as response,
            ):
                return _search_result(response.status, redact.known_value(await response.json(content_type=None)))
        except TimeoutError:
            raise Fault(FaultKind.DEADLINE, f"the search service did not answer within {_DEADLINE_S:.0f} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            message = redact(f"the search service cannot be reached: {type(error).__name__}")
            raise Fault(FaultKind.CONNECT, message) from None

    async def _follow(self, session: aiohttp.ClientSession, url: yarl.URL) -> str:
        for _ in range(_MOST_REDIRECTS):
            self._check(url)
            async with session.get(url, headers=_HEADERS, allow_redirects=False) as response:
                target = response.headers.get("Location") if response.status in (301, 302, 303, 307, 308) else None
                if target is None:
                    return await self._text(response)
                url = url.join(yarl.URL(target))
        raise NoPage(f"more than {_MOST_REDIRECTS} redirects")

    def _check(self, url: yarl.URL) -> None:
        """Check the address as parsed by the client itself, since another parser might extract a different host."""
        if url.scheme not in ("http", "https") or not url.raw_host:
            raise NoPage("refused: only http and https addresses can be fetched")
        check_literal(url.raw_host, self.is_allowed)

    async def _text(self, response: aiohttp.ClientResponse) -> str:
        if response.status >= 400:
            raise NoPage(f"{response.status} {response.reason or 'Error'} for url: {response.url}")
        kind = response.content_type
        if not (kind.startswith("text/") or kind.endswith(("xml", "json", "javascript")) or not kind):
            raise NoPage(f"refused: {kind} is not text")
        body = bytearray()
        async for chunk in response.content.iter_chunked(1 << 16):
            body += chunk
            if len(body) > self.most_bytes:
                raise NoPage(f"refused: larger than {self.most_bytes:,} bytes")
        return body.decode(_charset(response), "replace")

    @staticmethod
    def _session(is_allowed: IsAllowed) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(resolver=PinningResolver(is_allowed), use_dns_cache=False, limit=4)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)


def _charset(response: aiohttp.ClientResponse) -> str:
    try:
        return codecs.lookup(response.charset or "utf-8").name
    except LookupError:
        return "utf-8"


def _search_result(status: int, answer: object) -> dict[str, Any]:
    """Return the service's answer."""
    fields = as_object(answer)
    if status == 429 or "429" in str(fields.get("error", "")):
        raise Fault(FaultKind.RATE_LIMIT, "the search service's limit is reached", status=429)
    if status in (401, 403):
        hint = f"Check {SEARCH_KEY}."
        raise Fault(FaultKind.DATA, "the search service refuses the key", status=status, hint=hint)
    if status >= 500:
        raise Fault(FaultKind.SERVER, f"the search service failed (HTTP {status})", status=status)
    return fields


def _root_cause(error: BaseException) -> str:
    """Return the innermost cause of a connection error."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, RefusedAddress):
            return f"refused: {inner}"
        inner = inner.__cause__ or inner.__context__
    return f"{type(error).__name__}: {error}"
