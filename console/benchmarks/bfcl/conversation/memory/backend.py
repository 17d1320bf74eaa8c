"""A memory in use: one backend, its earlier content, and the calls executed on it. Pure but for the given embedding."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from console.benchmarks.bfcl.conversation.memory.key_value import MemoryAPI_kv
from console.benchmarks.bfcl.conversation.memory.running_text import MemoryAPI_rec_sum
from console.benchmarks.bfcl.conversation.memory.vector import Embed, MemoryAPI_vector
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.simulators.state import Simulators

Snapshot = dict[str, Any]
"""A memory in the official form of its backend; empty: nothing is remembered."""


class Memory:
    """The memory of one entry being played."""

    def __init__(self, entry_id: str, before: Snapshot, embed: Embed) -> None:
        """Load what was there before.

        Args:
            entry_id: names the backend; also shows in texts that hold something like a call of a memory function.
            before: of the same backend.
            embed: turns texts into vectors of length one; only called when the vector backend is searched.
        """
        name = f"MemoryAPI_{names.backend_of(entry_id)}"
        classes: Mapping[str, Callable[[], Any]] = {
            "MemoryAPI_kv": MemoryAPI_kv,
            "MemoryAPI_rec_sum": MemoryAPI_rec_sum,
            "MemoryAPI_vector": partial(MemoryAPI_vector, embed),
        }
        entry = {"id": entry_id, "classes": [name], "config": {name: before}, "long_context": False}
        self._simulators = Simulators(classes, entry, "model")
        self._backend = self._simulators.instances[name]

    def execute(self, calls: Sequence[str]) -> list[str]:
        """Execute calls and return their results as models see them; never raises for a bad call."""
        return self._simulators.execute(calls)

    @property
    def snapshot(self) -> Snapshot:
        """Everything remembered now; a copy."""
        return json.loads(json.dumps(self._backend.snapshot))


def core_of(snapshot: Snapshot) -> Any:
    """Return what of a memory is shown in the prompt; empty when there is nothing."""
    if "memory" in snapshot:
        return snapshot["memory"]
    core = snapshot.get("core_memory", {})
    return core.get("store", {}) if set(core) == {"next_id", "store"} else core
