"""Keys typed faster than the app can follow are kept in order: each waits until the one before it has had its effect.

Textual gives a key to whatever has the focus when it arrives, and runs its binding only after the key has travelled up
to the app. A key typed in between would go to the list, screen or field that the first key is just leaving.
"""

import asyncio
import time
from collections import deque

from textual import events
from textual.app import App
from textual.message import Message

_PATIENCE_S = 0.4
"""How long a key waits for the one before it, should that one's trace be lost with a removed widget."""


class KeyHandled(Message):
    """Follows a key through the same queues; when it reaches the app, so has the key."""


class TypeAhead(App[int]):
    """An app that handles one key at a time."""

    def __init__(self) -> None:
        """Start with no key waiting."""
        super().__init__()
        self._typed: deque[events.Key] = deque()
        self._since: float | None = None
        """When the key in flight was sent; None: none is."""
        self._waiting_since = 0.0

    async def on_event(self, event: events.Event) -> None:
        """Queue keys; everything else goes its way."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if not self._typed:
                self._waiting_since = time.monotonic()
            self._typed.append(event)
            await self._send_next()
        else:
            await super().on_event(event)

    async def on_key_handled(self) -> None:
        """Let the next key go."""
        self._since = None
        await self._send_next()

    async def _send_next(self) -> None:
        """Send the next key on its way, unless one is under way or the screen is still coming up."""
        now = time.monotonic()
        if not self._typed or (self._since is not None and now - self._since < _PATIENCE_S):
            return
        if not self._is_ready() and now - self._waiting_since < _PATIENCE_S:
            # Not set_timer, which never calls back when the machine is too busy at the wrong moment.
            asyncio.get_running_loop().call_later(0.01, self.call_later, self._send_next)
            return
        event = self._typed.popleft()
        self._waiting_since = self._since = now
        await super().on_event(event)
        if not (self.focused or self.screen).post_message(KeyHandled()):
            self._since = None

    def _is_ready(self) -> bool:
        """Whether the screen on top is drawn and has its focus, if it wants one."""
        if not self.screen_stack:
            return True
        screen = self.screen
        return screen.is_mounted and (screen.focused is not None or screen.AUTO_FOCUS == "")
