"""From a typed key to the method that does its action: keys wait their turn, then the first responder is asked.

Textual gives a key to whatever has the focus when it arrives, and runs its binding only after the key has travelled up
to the app. A key typed in between would go to the list, screen or field that the first key is just leaving.
An action is done by the focused widget or what holds it, else by the action groups of the screen, then of the app.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from inspect import isawaitable
from typing import Any, cast

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen

from console.tui.screens.base import BaseScreen

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


ActionMethod = Callable[[], Awaitable[None] | None]


def responders_on(screen: Screen[Any], of_app: Sequence[object]) -> Iterator[object]:
    """Yield everything that may do an action while a screen is shown, the nearest to the reader first."""
    nodes = screen.focused.ancestors_with_self if screen.focused else [screen]
    yield from (node for node in nodes if not isinstance(node, App))
    if isinstance(screen, BaseScreen):
        yield from screen.responders
        yield screen.zoom
        yield screen.find_session
    yield from of_app


def find_method(method: str, responders: Iterable[object]) -> ActionMethod | None:
    """Return the first responder's method of an action, unless that responder says that it does not do it now."""
    for responder in responders:
        action_method = getattr(responder, f"action_{method}", None)
        if action_method is not None and not (
            isinstance(responder, DOMNode) and responder.check_action(method, ()) is False
        ):
            return cast(ActionMethod, action_method)
    return None


async def do_action(action_method: ActionMethod) -> None:
    """Call an action's method and wait for it if it can be waited for."""
    outcome = action_method()
    if isawaitable(outcome):
        await outcome
