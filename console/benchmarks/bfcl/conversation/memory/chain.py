"""What is remembered after a chain of conversations, worked out from their outputs alone.

A memory changes by the calls of its conversations only, and these are in the outputs; so no state is kept beside them.
A resumed run, an imported result tree and an export all get the same memory from the same outputs.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from console.benchmarks.bfcl.conversation.memory.backend import Memory, Snapshot
from console.benchmarks.bfcl.models.decode.reply import executable_calls

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
