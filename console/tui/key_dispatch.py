"""Dispatch of typed keys to action methods, one key at a time.

Textual sends a key to the widget focused when it arrives, and runs its binding only after the key has bubbled up to the
app. A second key typed meanwhile would go to the list, screen or field that the first one is about to leave.
An action is handled by the focused widget or its ancestors, else by the responders of the screen, then of the app.
"""

import asyncio
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

_PATIENCE = 40
"""Message-loop turns that a key waits for the previous one; unlike seconds, none pass while the app is blocked."""
_TURN_S = 0.01


class KeyHandled(Message):
    """Follows a key through the same message queues; when it reaches the app, the key has been handled."""


class KeyQueue:
    """Delivers keys to the app one at a time."""

    def __init__(self, app: App[Any], deliver: Callable[[events.Event], Awaitable[None]]) -> None:
        """Make an empty queue; `deliver` is Textual's own key handler."""
        self._app = app
        self._deliver = deliver
        self._waiting: deque[events.Key] = deque()
        self._in_flight_at: DOMNode | None = None
        """Target of the `KeyHandled` posted after the key in flight; None if there is none."""
        self._turns = 0
        """Number of turns that the first key has waited."""
        self._is_turning = False

    async def put(self, event: events.Key) -> None:
        """Queue a key, and send it if no other is in flight."""
        self._waiting.append(event)
        await self._send_next()

    async def release_next(self) -> None:
        """Send the next key, after the previous one was handled."""
        self._in_flight_at = None
        await self._send_next()

    async def _send_next(self) -> None:
        """Send the next key, unless one is in flight or the screen is not ready."""
        if not self._waiting:
            return
        if (self._is_in_flight() or not self._is_ready()) and self._turns < _PATIENCE:
            if not self._is_turning:
                self._is_turning = True
                # Not set_timer, which may never fire on a busy machine.
                asyncio.get_running_loop().call_later(_TURN_S, self._app.call_later, self._turn)
            return
        self._turns = 0
        await self._deliver(self._waiting.popleft())
        node = self._app.focused or self._app.screen
        self._in_flight_at = node if node.post_message(KeyHandled()) else None

    async def _turn(self) -> None:
        self._is_turning = False
        self._turns += 1
        await self._send_next()

    def _is_in_flight(self) -> bool:
        """Return whether the previous key is still being handled; if its widget was removed, `KeyHandled` is lost."""
        return self._in_flight_at is not None and self._in_flight_at.is_attached

    def _is_ready(self) -> bool:
        """Return whether the top screen is mounted and has a focused widget unless it needs none."""
        if not self._app.screen_stack:
            return True
        screen = self._app.screen
        return screen.is_mounted and (screen.focused is not None or screen.AUTO_FOCUS == "")


ActionMethod = Callable[[], Awaitable[None] | None]


def responders_on(screen: Screen[Any], of_app: Sequence[object]) -> Iterator[object]:
    """Yield every object that may handle an action on a screen, the focused widget first."""
    nodes = screen.focused.ancestors_with_self if screen.focused else [screen]
    yield from (node for node in nodes if not isinstance(node, App))
    if isinstance(screen, BaseScreen):
        yield from screen.responders
        yield screen.zoom
        yield screen.find_session
    yield from of_app


def find_method(method: str, responders: Iterable[object]) -> ActionMethod | None:
    """Return the action method of the first responder that has it and does not disable it now."""
    for responder in responders:
        action_method = getattr(responder, f"action_{method}", None)
        if action_method is not None and not (
            isinstance(responder, DOMNode) and responder.check_action(method, ()) is False
        ):
            return cast(ActionMethod, action_method)
    return None


async def do_action(action_method: ActionMethod) -> None:
    """Call an action method and await its result if needed."""
    result = action_method()
    if isawaitable(result):
        await result
