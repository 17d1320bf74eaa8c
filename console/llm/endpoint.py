"""The one interface by which models are asked. Retries, the limiter and all deadlines are inside of it.

Only waiting is left to who asks: a request that waits for its next try, or for hours, needs nothing that others could
use meanwhile, and only who asks knows what that is.

An endpoint answers with a whole `Reply` or raises a `Fault`; half an answer is always a fault that carries the half.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault
from console.core.live import EndpointState


class Watch(Protocol):
    """What may be seen of one call while it runs, and how it waits. Methods `on_…` return at once and never raise."""

    def on_text(self, kind: str, text: str) -> None:
        """See new text: kind `text`, `reasoning` or `tool` (a call's name and arguments as they are written)."""
        ...

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        """See a try fail; text seen so far is void. `wait_s` until the next try; None: given up."""
        ...

    def on_wait(self, why: str, until: float | None) -> None:
        """See the call wait to be sent: why, and until when (seconds since the epoch); `""` ends the wait."""
        ...

    def on_address(self, address: str) -> None:
        """See which of its model's addresses the next try is made at; not called for a model with one."""
        ...

    def on_tokens(self, count: int) -> None:
        """See how many tokens the provider counted in texts that it embedded; once for each batch that it counts."""
        ...

    async def wait_to_retry(self, wait_s: float) -> None:
        """Wait so long for the next try after a fault of this request alone, and for permission to go on after it."""
        ...

    async def pause_run(self, fault: Fault) -> None:
        """Wait until the provider's own time, which is longer than a call may wait; or raise the fault.

        Raises:
            Fault: nobody can wait so long.
        """
        ...


class Unwatched:
    """A watch that ignores everything, and waits for retries but not for hours."""

    def on_text(self, kind: str, text: str) -> None:
        pass

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        pass

    def on_wait(self, why: str, until: float | None) -> None:
        pass

    def on_address(self, address: str) -> None:
        pass

    def on_tokens(self, count: int) -> None:
        pass

    async def wait_to_retry(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)

    async def pause_run(self, fault: Fault) -> None:
        raise fault


class Endpoint(Protocol):
    """A model that can be asked, by many conversations at once."""

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Return the model's whole answer.

        Raises:
            Fault: no whole answer could be had; redacted, with what had arrived in `partial`.
        """
        ...

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        """Return one vector for each text, in order.

        Raises:
            Fault: as for `ask`.
        """
        ...

    def states(self) -> list[EndpointState]:
        """Return the state of each address: requests in flight, limit, waiting, pause."""
        ...

    def retry_now(self) -> None:
        """End a pause early, because a person says so."""
        ...

    async def aclose(self) -> None:
        """Close all connections; calls in flight end as faults."""
        ...
