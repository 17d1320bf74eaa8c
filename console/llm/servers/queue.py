"""The number of requests that a model server works on at once; more wait in its queue, which looks like silence.

Source: llama.cpp's server: `total_slots` of `GET /props`, and the list of `GET /slots`, both next to `/v1`.
"""

import asyncio
import json

from console.config.model import Limits
from console.core.fault import Fault
from console.core.json_text import as_object, as_objects
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read

_LIMITS = Limits(timeout_s=5.0)


class ServerQueue:
    """Asks a server once how many requests it works on."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session
        self._lock = asyncio.Lock()
        self._is_asked = False
        self._at_once: int | None = None

    async def at_once(self) -> int | None:
        """Return the number of requests the server works on at once, or None if it does not say."""
        async with self._lock:
            if not self._is_asked:
                self._at_once = _count(await self._get("../props")) or _count(await self._get("../slots"))
                self._is_asked = True
        return self._at_once

    async def _get(self, path: str) -> object:
        try:
            async with Deadlines(_LIMITS, streamed=False), self._session.request("GET", path) as response:
                return json.loads(await read(response))
        except (Fault, ErrorResponse, ValueError, RecursionError):
            return None


def _count(answer: object) -> int | None:
    count = as_object(answer).get("total_slots", len(as_objects(answer)))
    return count if type(count) is int and count > 0 else None
