"""Endpoints over the network, at one or several equivalent addresses."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.core.provider import PROVIDERS
from console.llm.balancer import Balancer
from console.llm.embedding.vectors import BATCH
from console.llm.endpoint import Watch
from console.llm.limits.limiter import Limiter
from console.llm.retry import ask_until_answered


class Client(Protocol):
    """Sends single requests to one address; retries and limits are the caller's."""

    limiter: Limiter
    """Limiter of the address, shared by all users of the same key."""

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Return the model's whole answer.

        Raises:
            Fault: with its hint, and redacted.
        """
        ...

    async def embed(self, texts: list[str], watch: Watch) -> list[list[float]]:
        """Return a vector for each text; raises as `ask`."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class RemoteEndpoint:
    """A client for each address, behind retries and a balancer."""

    def __init__(self, model: ModelConfig, open_client: Callable[[ModelConfig], Client]) -> None:
        """Open the clients; nothing is sent."""
        self._model = model
        self.clients = [open_client(at_address) for at_address in model.at_each_address()]
        limiters = (client.limiter for client in self.clients)
        self._balancer = Balancer(zip(model.address_names(), limiters, strict=True))

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        reply, tries = await ask_until_answered(
            lambda this_try: self.clients[this_try.place].ask(request, watch),
            self._balancer,
            self._model.limits,
            watch,
            request.prefers,
        )
        return reply if tries == 1 else msgspec.structs.replace(reply, tries=tries)

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        """Embed in batches."""
        if not PROVIDERS[self._model.provider].embeds:
            raise Fault(FaultKind.BAD_REQUEST, f"provider {self._model.provider} offers no embeddings")
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            batch_vectors, _ = await ask_until_answered(
                lambda this_try, batch=batch: self.clients[this_try.place].embed(batch, watch),
                self._balancer,
                self._model.limits,
                watch,
            )
            vectors += batch_vectors
        return vectors

    def states(self) -> list[EndpointState]:
        return self._balancer.states()

    def retry_now(self) -> None:
        self._balancer.retry_now()

    async def aclose(self) -> None:
        for client in self.clients:
            await client.aclose()
