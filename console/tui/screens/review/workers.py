"""How action groups start what waits for a dialog or a process: as a worker of their screen."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class StartWorker(Protocol):
    """Starts a coroutine, or a function in a thread; a later one of the same group takes its place."""

    def __call__(self, work: Coroutine[Any, Any, None] | Callable[[], None], *, group: str) -> None:
        """Start it; a function runs in a thread."""
        ...
