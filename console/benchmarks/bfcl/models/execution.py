"""From one step of a conversation to the call texts that are executed.

A step that cannot be decoded, or decodes to nothing, holds no calls; that ends a turn.
"""

from typing import Any

from console.benchmarks.bfcl.models.decode.family import find_family
from console.benchmarks.bfcl.models.decode.length import refuse_too_long


def executable_calls(step: Any, family: str) -> list[str]:
    """Return the call texts of a step; empty when it holds none. Never raises.

    Args:
        step: the reply's text, or recorded native calls.
        family: the decode family.
    """
    reader = find_family(family)
    try:
        refuse_too_long(step)
        calls = reader.executable(step)
    except (Exception, MemoryError):  # every failure to decode means that there is no call
        return []
    return [] if calls == [""] else calls
