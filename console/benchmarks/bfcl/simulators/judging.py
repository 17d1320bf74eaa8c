"""Judging conversations with simulators: shape and decoding here, playing and comparing in the worker.

A single conversation is a batch of one. Batches are begun one after the other without waiting, so that decoding the
next goes on while the worker plays the last; results come in order. A batch that costs the worker is judged again one
by one, so that only the conversation to blame stays without a finding.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.host import SimulatorHost
from console.core.fault import Fault
from console.suites.call_matching.checker import UNCHECKABLE, Refusal

INFERENCE_ERROR = "multi_turn:inference_error"
TERMINATED = "multi_turn:force_terminated"
_BATCH = 20
"""Conversations in one message to the worker."""
_AHEAD = 2
"""Batches on their way at once."""

Finding = dict[str, Any]
"""What `turn_check.check_turns` returns."""
Judgement = tuple[Refusal | None, Finding]


@dataclass(slots=True)
class _Decoded:
    """A conversation ready to be played, or what refuses it before."""

    refusal: Refusal | None
    item: dict[str, Any]
    calls: list[list[list[str]]]


@dataclass(slots=True)
class _Batch:
    decoded: list[_Decoded]
    waiting: "Future[Any] | None"


def check_conversation(entry: Entry, output: Any, family: str, host: SimulatorHost) -> Judgement:
    """Judge the recorded turns of steps; None means right. The finding says what was executed and what differs.

    Raises:
        Fault: the worker failed; nothing is known of the model then.
    """
    decoded = _decode(entry, output, family)
    if decoded.refusal is not None:
        return decoded.refusal, {}
    findings = host.call("checks", {"items": [decoded.item], "recorded": False, "whole": True})
    return _judgement(decoded, findings[0])


def check_conversations(
    conversations: Iterable[tuple[Entry, Any]], family: str, host: SimulatorHost, *, recorded: bool = False
) -> Iterator[Judgement]:
    """Judge many, in order; `recorded` adds to the findings what the official score file keeps.

    A conversation that the worker cannot judge is refused as uncheckable.

    Raises:
        Fault: the simulators cannot be started.
    """
    rest, begun = iter(conversations), deque[_Batch]()
    while True:
        while len(begun) < _AHEAD and (some := list(islice(rest, _BATCH))):
            decoded = [_decode(entry, output, family) for entry, output in some]
            begun.append(_Batch(decoded, _submit_batch(decoded, host, recorded=recorded)))
        if not begun:
            return
        yield from _finish_batch(begun.popleft(), host, recorded=recorded)


def _submit_batch(decoded: list[_Decoded], host: SimulatorHost, *, recorded: bool) -> "Future[Any] | None":
    items = [conversation.item for conversation in decoded if conversation.refusal is None]
    return host.submit("checks", {"items": items, "recorded": recorded, "whole": False}) if items else None


def _finish_batch(batch: _Batch, host: SimulatorHost, *, recorded: bool) -> Iterator[Judgement]:
    try:
        findings = iter(host.result(batch.waiting) if batch.waiting is not None else ())
        judged = [
            _refusal(conversation) if conversation.refusal else _judgement(conversation, next(findings))
            for conversation in batch.decoded
        ]
    except Fault:
        host.call("spent", {})  # can the simulators be started at all?
        judged = [_check_alone(conversation, host, recorded=recorded) for conversation in batch.decoded]
    yield from judged


def _check_alone(conversation: _Decoded, host: SimulatorHost, *, recorded: bool) -> Judgement:
    if conversation.refusal is not None:
        return _refusal(conversation)
    try:
        return _judgement(
            conversation, host.call("checks", {"items": [conversation.item], "recorded": recorded, "whole": False})[0]
        )
    except Fault as fault:
        return Refusal(UNCHECKABLE, fault.message), {}


def _decode(entry: Entry, output: Any, family: str) -> _Decoded:
    truth = entry.ground_truth or []
    if not isinstance(output, list):
        return _refused(INFERENCE_ERROR, "the output is not a list of turns")
    turns = cast(list[Any], output)
    if len(turns) != len(truth):
        return _refused(TERMINATED, f"turns played: {len(turns)}, expected: {len(truth)}")
    try:
        calls = [decoded_turn(turn, family) for turn in turns]
    except TypeError as error:
        return _refused(UNCHECKABLE, f"the official scorer cannot check this: {error}")
    return _Decoded(None, {"entry": worker_entry(entry), "turns": calls, "truth": truth}, calls)


def _refusal(conversation: _Decoded) -> Judgement:
    return conversation.refusal, {}


def _refused(error_type: str, message: str) -> _Decoded:
    return _Decoded(Refusal(error_type, message), {}, [])


def _judgement(decoded: _Decoded, finding: Finding) -> Judgement:
    finding["decoded"] = decoded.calls
    if finding["error_type"] is None:
        return None, finding
    message = f"turn {finding['turn'] + 1}: {finding['message']}"
    return Refusal(finding["error_type"], message, finding.get("subject", "")), finding


def trace_states(entry: Entry, output: Any, family: str, host: SimulatorHost) -> list[dict[str, Any]]:
    """Return the public state of an entry's simulators by class, before the first turn of an output and after each.

    Raises:
        Fault: the worker failed.
        TypeError: a turn is not a list of steps.
    """
    turns = [decoded_turn(turn, family) for turn in output]
    return host.call("trace", {"entry": worker_entry(entry), "turns": turns})


def decoded_turn(turn: Any, family: str) -> list[list[str]]:
    """Return the call texts of every step that holds any.

    Raises:
        TypeError: the turn is not a list of steps.
    """
    steps = (executable_calls(step, family) for step in cast(Iterable[Any], turn))
    return [calls for calls in steps if calls]


def worker_entry(entry: Entry) -> dict[str, Any]:
    """Return what the worker needs to know of an entry."""
    return {
        "id": entry.id,
        "classes": entry.involved_classes,
        "config": entry.initial_config,
        "long_context": "long_context" in entry.id or "composite" in entry.id,
    }
