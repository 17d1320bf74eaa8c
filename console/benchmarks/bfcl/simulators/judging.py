"""Judging of conversations with simulators: decoding here, execution and comparison in the worker.

Batches are submitted ahead, so that decoding overlaps with execution; results come in order. If a batch crashes the
worker, its conversations are judged one by one, so that only the culprit has no finding.
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
"""Number of conversations per batch."""
_AHEAD = 2
"""Maximum number of concurrent batches."""

Finding = dict[str, Any]
"""Result of `turn_check.check_turns`."""
Judgement = tuple[Refusal | None, Finding]


@dataclass(slots=True)
class _Decoded:
    """A decoded conversation, or its early rejection."""

    refusal: Refusal | None
    item: dict[str, Any]
    calls: list[list[list[str]]]


@dataclass(slots=True)
class _Batch:
    decoded: list[_Decoded]
    waiting: "Future[Any] | None"


def check_conversation(entry: Entry, output: Any, family: str, host: SimulatorHost) -> Judgement:
    """Judge recorded turns of steps (None if correct) and return the finding with executed calls and differences.

    Raises:
        Fault: the worker failed.
    """
    decoded = _decode(entry, output, family)
    if decoded.refusal is not None:
        return decoded.refusal, {}
    findings = host.call("checks", {"items": [decoded.item], "recorded": False, "whole": True})
    return _judgement(decoded, findings[0])


def check_conversations(
    conversations: Iterable[tuple[Entry, Any]], family: str, host: SimulatorHost, *, recorded: bool = False
) -> Iterator[Judgement]:
    """Judge many conversations in order; `recorded` adds the fields of the official score file.

    A conversation that crashes the worker is rejected as uncheckable.

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
        host.call("spent", {})  # raises if the simulators cannot be started
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
    """Return the public state of an entry's simulators by class, before the first turn and after each turn.

    Raises:
        Fault: the worker failed.
        TypeError: a turn is not a list of steps.
    """
    turns = [decoded_turn(turn, family) for turn in output]
    return host.call("trace", {"entry": worker_entry(entry), "turns": turns})


def decoded_turn(turn: Any, family: str) -> list[list[str]]:
    """Return the call strings of every step with calls.

    Raises:
        TypeError: the turn is not a list of steps.
    """
    steps = (executable_calls(step, family) for step in cast(Iterable[Any], turn))
    return [calls for calls in steps if calls]


def worker_entry(entry: Entry) -> dict[str, Any]:
    """Return the fields of an entry for the worker."""
    return {
        "id": entry.id,
        "classes": entry.involved_classes,
        "config": entry.initial_config,
        "long_context": "long_context" in entry.id or "composite" in entry.id,
    }
