"""Turns that Anthropic pauses while its own tools work (`pause_turn`): they are sent back and go on, as one reply."""

from typing import Any, cast

import msgspec

from console.core.chat import ChatRequest, Native, Reply, Usage
from console.core.fault import Fault, FaultKind

PAUSED = "pause"
"""Finish of a reply that has to be sent back to go on; never that of a whole reply."""
MOST_PAUSES = 20


def continued(request: ChatRequest, reply: Reply) -> ChatRequest:
    """Return the request that lets a paused turn go on."""
    return msgspec.structs.replace(request, messages=[*request.messages, reply.message()])


def joined(first: Reply, second: Reply) -> Reply:
    """Return the two parts of a turn as one reply."""
    texts = [part.content for part in (first, second) if part.content is not None]
    blocks = [*_blocks(first), *_blocks(second)]
    native: Native | None = {**second.native, "content": blocks} if second.native is not None else None
    return msgspec.structs.replace(
        second,
        content="".join(texts) if texts else None,
        tool_calls=first.tool_calls + second.tool_calls,
        reasoning=first.reasoning + second.reasoning,
        usage=_sum(first.usage, second.usage),
        latency_s=first.latency_s + second.latency_s,
        first_token_s=first.first_token_s,
        flags=tuple(sorted({*first.flags, *second.flags, "continued after a pause"})),
        native=native,
    )


def _blocks(reply: Reply) -> list[Any]:
    return cast("list[Any]", reply.native["content"]) if reply.native is not None else []


def _sum(first: Usage | None, second: Usage | None) -> Usage | None:
    """Return the usage of both requests, which are charged separately; unknown if either is."""
    if first is None or second is None:
        return None
    sums: dict[str, Any] = {}
    for name in Usage.__struct_fields__:
        one, other = getattr(first, name), getattr(second, name)
        is_count = isinstance(one, int | float) and isinstance(other, int | float)
        sums[name] = one + other if is_count else (None if one is None else other)
    return Usage(**sums)


def endless_pause() -> Fault:
    """Return the fault of a turn that is paused again and again."""
    return Fault(FaultKind.TRUNCATED, f"the provider paused the turn {MOST_PAUSES} times without an answer")


def pause_in_batch() -> Fault:
    """Return the fault of a turn that a batch cannot continue."""
    return Fault(
        FaultKind.BAD_REQUEST,
        "the provider paused the turn (pause_turn), which a batch cannot continue",
        hint="Play this model without --batch.",
    )
