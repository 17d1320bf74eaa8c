"""The one protocol by which models are asked. Retries, the limiter and all deadlines are inside of it.

An endpoint answers with a whole `Reply` or raises a `Fault`; half an answer is always a fault that carries the half.
"""

from collections.abc import Sequence
from typing import Protocol

from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault
from console.core.live import EndpointState


class Watch(Protocol):
    """What may be seen of one call while it runs. The methods return at once and never raise."""

    def on_text(self, kind: str, text: str) -> None:
        """See new text: kind `text`, `reasoning` or `tool` (a call's name and arguments as they are written)."""
        ...

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        """See a try fail; text seen so far is void. `wait_s` until the next try; None: given up."""
        ...

    def on_wait(self, why: str, until: float | None) -> None:
        """See the call wait to be sent: why, and until when (seconds since the epoch); `""` ends the wait."""
        ...

    def on_tokens(self, count: int) -> None:
        """See how many tokens the provider counted in texts that it embedded; once for each batch that it counts."""
        ...


class Unwatched:
    """A watch that ignores everything."""

    def on_text(self, kind: str, text: str) -> None:
        pass

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        pass

    def on_wait(self, why: str, until: float | None) -> None:
        pass

    def on_tokens(self, count: int) -> None:
        pass


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

    def state(self) -> EndpointState:
        """Return the state of the rate limiter: requests in flight, limit, waiting, pause."""
        ...

    def retry_now(self) -> None:
        """End a pause early, because a person says so."""
        ...

    async def aclose(self) -> None:
        """Close all connections; calls in flight end as faults."""
        ...
