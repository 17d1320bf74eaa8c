"""Keys typed faster than the app can follow are kept in order: each waits until the one before it has had its effect.

Textual gives a key to whatever has the focus when it arrives, and runs its binding only after the key has travelled up
to the app. A key typed in between would go to the list, screen or field that the first key is just leaving.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message

_PATIENCE_S = 0.4
"""How long a key waits for the one before it, should that one's trace be lost with a removed widget."""


class KeyHandled(Message):
    """Follows a key through the same queues; when it reaches the app, so has the key."""


class KeyQueue:
    """Hands keys to the app one at a time."""

    def __init__(self, app: App[Any], deliver: Callable[[events.Event], Awaitable[None]]) -> None:
        """Make an empty queue; `deliver` is how Textual itself takes a key."""
        self._app = app
        self._deliver = deliver
        self._waiting: deque[events.Key] = deque()
        self._sent_at: float | None = None
        """When the key in flight was sent; None: none is."""
        self._waiting_since = 0.0

    async def put(self, event: events.Key) -> None:
        """Queue a key, and send it if no other is under way."""
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._waiting.append(event)
        await self._send_next()

    async def go_on(self) -> None:
        """Send the next key: the one before it has had its effect."""
        self._sent_at = None
        await self._send_next()

    async def _send_next(self) -> None:
        """Send the next key on its way, unless one is under way or the screen is still coming up."""
        now = time.monotonic()
        if not self._waiting or (self._sent_at is not None and now - self._sent_at < _PATIENCE_S):
            return
        if not self._is_ready() and now - self._waiting_since < _PATIENCE_S:
            # Not set_timer, which never calls back when the machine is too busy at the wrong moment.
            asyncio.get_running_loop().call_later(0.01, self._app.call_later, self._send_next)
            return
        event = self._waiting.popleft()
        self._waiting_since = self._sent_at = now
        await self._deliver(event)
        if not (self._app.focused or self._app.screen).post_message(KeyHandled()):
            self._sent_at = None

    def _is_ready(self) -> bool:
        """Whether the screen on top is drawn and has its focus, if it wants one."""
        if not self._app.screen_stack:
            return True
        screen = self._app.screen
        return screen.is_mounted and (screen.focused is not None or screen.AUTO_FOCUS == "")
