"""The memory of an entry, reconstructed from earlier outputs. Pure except for the given embedding.

A memory changes only by the calls in outputs, so no other state is stored; resumed runs, imports and exports all
reconstruct the same memory from the same outputs.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, cast

from console.benchmarks.bfcl.conversation.memory.key_value import MemoryAPI_kv
from console.benchmarks.bfcl.conversation.memory.running_text import MemoryAPI_rec_sum
from console.benchmarks.bfcl.conversation.memory.vector import Embed, MemoryAPI_vector
from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.simulators.state import Simulators

Snapshot = dict[str, Any]
"""Content of a memory in the official format of its backend."""


class Memory:
    """The memory of one entry in progress."""

    def __init__(self, entry_id: str, before: Snapshot, embed: Embed) -> None:
        """Load a snapshot.

        Args:
            entry_id: id of the entry, which includes the backend and may appear in results.
            before: snapshot of the same backend.
            embed: returns unit vectors for texts; called only by searches of the vector backend.
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
        """Execute calls and return their results for the model; never raises for a bad call."""
        return self._simulators.execute(calls)

    @property
    def snapshot(self) -> Snapshot:
        """Copy of the current content."""
        return json.loads(json.dumps(self._backend.snapshot))


def core_of(snapshot: Snapshot) -> Any:
    """Return the part of a memory shown in the prompt; may be empty."""
    if "memory" in snapshot:
        return snapshot["memory"]
    core = snapshot.get("core_memory", {})
    return core.get("store", {}) if set(core) == {"next_id", "store"} else core


OutputOf = Callable[[str], Any]
"""Returns the output of a finished entry, or None."""


def memory_after(entry_ids: Iterable[str], output_of: OutputOf, family: str) -> Snapshot:
    """Return the memory after a sequence of conversations; one without an output changes nothing.

    Args:
        entry_ids: the prerequisites of one scenario and backend, in order.
        output_of: returns an output in the official format, turns of steps.
        family: the decode family of the calls in outputs.
    """
    snapshot = "{}"
    for entry_id in entry_ids:
        calls = calls_in(output_of(entry_id), family)
        snapshot = _after(entry_id, snapshot, tuple(calls))
    return json.loads(snapshot)


def calls_in(output: Any, family: str) -> list[str]:
    """Return all executable calls of an output, in order."""
    turns = cast(list[Any], output) if isinstance(output, list) else []
    steps = [step for turn in turns if isinstance(turn, list) for step in cast(list[Any], turn)]
    return [call for step in steps for call in executable_calls(step, family)]


@lru_cache(maxsize=512)
def _after(entry_id: str, before: str, calls: tuple[str, ...]) -> str:
    memory = Memory(entry_id, json.loads(before), no_search)
    memory.execute(calls)
    return json.dumps(memory.snapshot)


def no_search(texts: Sequence[str]) -> list[list[float]]:
    """Return dummy vectors, as search results do not affect the memory."""
    return [[0.0] for _ in texts]
