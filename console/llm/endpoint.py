"""The interface to models, with retries, limits and deadlines built in.

Only long waits, between tries or for hours, are left to the caller, which knows what else can be paused.

An endpoint returns a whole `Reply` or raises a `Fault`; a partial answer is always a fault that carries it.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault
from console.core.live import EndpointState


class Watch:
    """Observes one call and performs its waits; this base class ignores all events and refuses long waits.

    The `on_…` methods return at once and never raise.
    """

    def on_text(self, kind: str, text: str) -> None:
        """Receive new text: kind `text`, `reasoning` or `tool` (name and arguments of a call as written)."""

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        """Receive the fault of a try and discard its text; `wait_s` until the next try; None if there is none."""

    def on_wait(self, why: str, until: float | None) -> None:
        """Receive the reason for a wait and its end (epoch seconds); an empty reason ends the wait."""

    def on_address(self, address: str) -> None:
        """Receive the name of the address of the next try; not called for models with one address."""

    def on_resent(self) -> None:
        """Receive that this try has sent another request that may be charged.

        The server closed a kept connection, so that it was sent again, or a paused turn failed after its first part.
        """

    def on_tokens(self, count: int) -> None:
        """Receive the token count of one embedded batch, if the provider reports it."""

    async def wait_to_retry(self, wait_s: float) -> None:
        """Wait before retrying a request's own fault, and for permission to continue."""
        await asyncio.sleep(wait_s)

    async def pause_run(self, fault: Fault) -> None:
        """Wait longer than a call may wait by itself, or raise the fault.

        Raises:
            Fault: the wait is too long.
        """
        raise fault


class Endpoint(Protocol):
    """A model; conversations call it concurrently."""

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Return the model's whole answer.

        Raises:
            Fault: there is no whole answer; redacted, with the partial answer.
        """
        ...

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        """Return a vector for each text, in order.

        Raises:
            Fault: as for `ask`.
        """
        ...

    def states(self) -> list[EndpointState]:
        """Return the state of each address: requests in flight, limit, queue, pause."""
        ...

    def retry_now(self) -> None:
        """End a pause early, at the user's request."""
        ...

    async def aclose(self) -> None:
        """Close all connections; calls in flight raise faults."""
        ...
