"""A memory in use: one backend, its earlier content, and the calls executed on it. Pure but for the given embedding.

A memory changes only by the calls of its conversations, and these are in the outputs; so no state is kept next to them.
A resumed run, an imported result tree and an export all get the same memory from the same outputs.
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


OutputOf = Callable[[str], Any]
"""Returns the output of a finished entry; None where there is none."""


def memory_after(entry_ids: Iterable[str], output_of: OutputOf, family: str) -> Snapshot:
    """Return what is remembered after conversations in their order; one without an output changes nothing.

    Args:
        entry_ids: the prerequisites of one scenario and backend.
        output_of: the official result form of each: turns of steps.
        family: the decode family; how calls are written in outputs.
    """
    snapshot = "{}"
    for entry_id in entry_ids:
        calls = calls_in(output_of(entry_id), family)
        snapshot = _after(entry_id, snapshot, tuple(calls))
    return json.loads(snapshot)


def calls_in(output: Any, family: str) -> list[str]:
    """Return all executable calls of an output in the order they were made."""
    turns = cast(list[Any], output) if isinstance(output, list) else []
    steps = [step for turn in turns if isinstance(turn, list) for step in cast(list[Any], turn)]
    return [call for step in steps for call in executable_calls(step, family)]


@lru_cache(maxsize=512)
def _after(entry_id: str, before: str, calls: tuple[str, ...]) -> str:
    memory = Memory(entry_id, json.loads(before), no_search)
    memory.execute(calls)
    return json.dumps(memory.snapshot)


def no_search(texts: Sequence[str]) -> list[list[float]]:
    """Embed nothing: what a search finds does not change what is remembered."""
    return [[0.0] for _ in texts]
