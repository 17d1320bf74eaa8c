"""One call to a worker in progress, and the two ways it can go wrong: the operation raised, or the worker is lost."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from console.core.fault import Fault, FaultKind

Cause = Literal["timeout", "died", "protocol", "killed", "start"]
OnTell = Callable[[str, Any], None]
OnAsk = Callable[[str, Any], Awaitable[Any]]


class WorkerLost(Fault):
    """The worker is gone; nothing it held can be had back."""

    def __init__(self, cause: Cause, message: str, *, was_killed: bool = False) -> None:
        """Make the fault; `cause` tells apart what the code did from what we did.

        `was_killed`: it died of SIGKILL, which the code itself, a person or a kernel out of memory can have sent.
        """
        super().__init__(FaultKind.SANDBOX, message)
        self.cause: Cause = cause
        self.was_killed = was_killed


class WorkerError(Exception):
    """An operation of the program raised; the worker is well and may be called again."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message


class Exchange:
    """One call in progress: who is told and asked, and how much time is left."""

    def __init__(self, on_tell: OnTell | None, on_ask: OnAsk | None, wall_s: float) -> None:
        """Start the deadline of a call."""
        self._on_tell, self._on_ask = on_tell, on_ask
        self.wall_s = wall_s
        self.received = 0
        self._deadline = time.monotonic() + wall_s

    @property
    def left_s(self) -> float:
        """Seconds until the worker is killed."""
        return max(0.0, self._deadline - time.monotonic())

    def tell(self, kind: str, data: Any) -> None:
        """Pass on a message of the program that needs no answer."""
        if self._on_tell is not None:
            self._on_tell(kind, data)

    async def answer(self, kind: str, data: Any) -> dict[str, Any]:
        """Answer a question of the program; its deadline starts again afterwards."""
        if self._on_ask is None:
            return {"refused": f"nobody answers {kind}"}
        answer = await self._on_ask(kind, data)
        self._deadline = time.monotonic() + self.wall_s
        self.received = 0
        return {"answer": answer}
