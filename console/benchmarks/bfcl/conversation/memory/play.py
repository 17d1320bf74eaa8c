"""Executes the calls of a memory conversation."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from console.benchmarks.bfcl.conversation.memory.backend import Memory, Snapshot, no_search
from console.benchmarks.bfcl.conversation.memory.vector import Embed
from console.core.fault import Fault


@dataclass(slots=True)
class MemoryExecution:
    """Executes the calls of one memory conversation."""

    entry_id: str
    before: Snapshot
    embed: Embed
    executed: list[list[str]] = field(default_factory=list[list[str]])
    """Executed calls by step, including those from the journal, which are not yet applied to the memory."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step after all earlier steps.

        Raises:
            Fault: the embedding failed; kind `data` if its weights are missing.
        """
        earlier = Memory(self.entry_id, self.before, no_search)
        for step in self.executed:
            earlier.execute(step)
        search = _Search(self.embed)
        memory = Memory(self.entry_id, earlier.snapshot, search)
        results = await asyncio.to_thread(memory.execute, calls)
        if search.fault is not None:
            raise search.fault
        return results

    async def end(self) -> None:
        """Do nothing, as no worker is used."""


class _Search:
    """Embedding that records faults, which must not reach the model as errors of its call."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.fault: Fault | None = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return self._embed(texts)
        except Fault as fault:
            self.fault = fault
            raise
