"""Who does an action: the first responder that has its method.

The focused widget and what holds it come first, then the action groups of the screen, then those of the app.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from inspect import isawaitable
from typing import Any, cast

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from console.tui.screens.base import BaseScreen

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
