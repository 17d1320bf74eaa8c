"""The local embedding model as an endpoint: no network, no key, computed in a thread beside the event loop."""

import asyncio
from collections.abc import Sequence

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.llm.endpoint import Watch


class LocalEndpoint:
    """Embeds on this machine, one call after another: a single core is used, never all of them."""

    def __init__(self, model: ModelConfig) -> None:
        self._model = model
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Refuse: an embedding model has no text to answer with."""
        raise Fault(
            FaultKind.BAD_REQUEST,
            f"{self._model.name} turns texts into vectors and cannot answer",
            hint="Use it as the embedding only.",
        )

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        from console.llm.embedding.minilm import embed

        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(embed, list(texts), self._model.data)
        finally:
            self._waiting -= 1

    def states(self) -> list[EndpointState]:
        """Return how many calls are running and waiting; the limit is always one."""
        busy = int(self._turn.locked())
        return [EndpointState(self._model.name, in_flight=busy, limit=1, waiting=self._waiting - busy)]

    def retry_now(self) -> None:
        """Do nothing: this endpoint never pauses."""

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""
