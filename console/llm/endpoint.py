"""The one protocol by which models are asked. Retries, the limiter and all deadlines are inside of it.

An endpoint answers with a whole `Reply` or raises a `Fault`; half an answer is always a fault that carries the half.
Opening one imports only what that model needs: litellm, which is slow and large, only for models that name it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault
from console.core.live import EndpointState

if TYPE_CHECKING:
    from console.config.model import ModelConfig


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
    """Watches nothing."""

    def on_text(self, kind: str, text: str) -> None:
        """Ignore it."""

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        """Ignore it."""

    def on_wait(self, why: str, until: float | None) -> None:
        """Ignore it."""

    def on_tokens(self, count: int) -> None:
        """Ignore it."""


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
        """Return what the limiter is doing."""
        ...

    def retry_now(self) -> None:
        """End a pause early, because a person says so."""
        ...

    async def aclose(self) -> None:
        """Close all connections; calls in flight end as faults."""
        ...


def open_endpoint(model: "ModelConfig") -> Endpoint:
    """Return an endpoint for a model; nothing is sent yet. The key is looked up now and kept in memory only."""
    if model.provider == "simulated":
        from console.llm.simulated import SimulatedEndpoint

        return SimulatedEndpoint(model)
    if model.provider == "local":
        from console.llm.local import LocalEndpoint

        return LocalEndpoint(model)
    if model.provider == "litellm":
        from console.llm.litellm_client import LitellmEndpoint

        return LitellmEndpoint(model)
    from console.llm.openai_client import OpenAIEndpoint

    return OpenAIEndpoint(model)
