"""Executing the calls of a memory conversation; what was remembered before comes from the outputs it depends on."""

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
    """By step; those from the journal have not reached the memory yet."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step, after everything before.

        Raises:
            Fault: the embedding failed; kind `data` when its weights are not here.
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
        """Release nothing: no worker is used."""


class _Search:
    """An embedding whose faults are kept: a call text's errors go to the model, machinery trouble must not."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.fault: Fault | None = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return self._embed(texts)
        except Fault as fault:
            self.fault = fault
            raise
