"""One call to a worker, and the two ways in which it can fail: the operation raised, or the worker was lost."""

import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Literal

from console.core.fault import Fault, FaultKind
from console.sandbox.limits import WorkerLimits

Cause = Literal["timeout", "died", "protocol", "killed", "start"]
OnTell = Callable[[str, Any], None]
OnAsk = Callable[[str, Any], Awaitable[Any]]


class WorkerLost(Fault):
    """The worker process ended, and its state is lost."""

    def __init__(self, cause: Cause, message: str, *, was_killed: bool = False, type_name: str = "") -> None:
        """Create the fault; `cause` distinguishes actions of the code from those of the engine.

        Args:
            cause: kind of loss.
            message: one sentence.
            was_killed: the worker died of SIGKILL, sent by the code itself, a person or the kernel when out of memory.
            type_name: class of the exception raised while the program was loading.
        """
        super().__init__(FaultKind.SANDBOX, message)
        self.cause: Cause = cause
        self.was_killed = was_killed
        self.type_name = type_name


class WorkerError(Exception):
    """An operation of the program raised; the worker is intact and can be called again."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message


class Exchange:
    """One call in progress: its handlers for messages and questions, and its remaining time, bytes and messages.

    Only answers to the question kinds in `new_span` reset all three; otherwise code could run and send forever by
    asking questions that cost nothing.
    """

    def __init__(
        self,
        limits: WorkerLimits,
        on_tell: OnTell | None,
        on_ask: OnAsk | None,
        wall_s: float,
        new_span: Collection[str],
    ) -> None:
        """Start the deadline of the call."""
        self._limits, self._on_tell, self._on_ask = limits, on_tell, on_ask
        self._new_span = new_span
        self.wall_s = wall_s
        self._begin_span()

    def _begin_span(self) -> None:
        self._deadline = time.monotonic() + self.wall_s
        self._bytes = self._messages = 0

    @property
    def left_s(self) -> float:
        """Seconds until the worker is killed."""
        return max(0.0, self._deadline - time.monotonic())

    def count(self, size: int) -> None:
        """Count one message.

        Raises:
            WorkerLost: the worker sent too many messages or bytes.
        """
        self._bytes += size
        self._messages += 1
        if self._bytes > self._limits.call_bytes or self._messages > self._limits.call_messages:
            raise WorkerLost("protocol", "the worker sent too much and was terminated")

    def tell(self, kind: str, data: Any) -> None:
        """Deliver a message of the program that needs no answer."""
        if self._on_tell is not None:
            self._on_tell(kind, data)

    async def answer(self, kind: str, data: Any) -> dict[str, Any]:
        """Answer a question of the program; answering does not count against its time."""
        if self._on_ask is None:
            return {"refused": f"{kind} is not answered here"}
        began = time.monotonic()
        answer = await self._on_ask(kind, data)
        self._deadline += time.monotonic() - began
        if kind in self._new_span:
            self._begin_span()
        return {"answer": answer}
