"""Judging all saved outputs of a category at once: the verdicts of scoring, with what the score files keep of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decode.reply import decode_reply, executable_calls
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.agentic_answer import check_answer
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.verdict import judge
from console.benchmarks.bfcl.simulators.host import host_of
from console.benchmarks.bfcl.simulators.judging import check_conversations
from console.core.case import Setting
from console.suites.call_matching.checker import Refusal


@dataclass(frozen=True, slots=True)
class Mark:
    """What the official scorer says of one output."""

    entry: Entry
    output: Any
    refusal: Refusal | None
    """None: right."""
    finding: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of a refused conversation with simulators: what was played, and the `record` of the score file."""


def mark_outputs(
    dataset: Dataset, category: str, outputs: Sequence[tuple[str, Any]], setting: Setting
) -> Iterator[Mark]:
    """Judge outputs, given with their entry ids, in order.

    Raises:
        Fault: the simulators cannot be started.
        UsageError: damaged data.
        KeyError: an unknown id.
    """
    entries = dataset.entries(category)
    pairs = [(entries[entry_id], output) for entry_id, output in outputs]
    if not names.is_multi_turn(category):
        for entry, output in pairs:
            yield Mark(entry, output, judge(entry, output, setting))
        return
    judged = check_conversations(pairs, family_of(setting), host_of(dataset), recorded=True)
    for (entry, output), (refusal, finding) in zip(pairs, judged, strict=True):
        yield Mark(entry, output, refusal, finding)


def decoded_calls(mark: Mark, family: str) -> Any:
    """Return what a single-turn output decodes to, as the score file keeps it."""
    return decode_reply(mark.output, mark.entry.judged_as, family, mark.entry.config).value


def decoded_steps(mark: Mark, family: str) -> list[list[str]]:
    """Return the call texts of the steps of an agentic output that hold any."""
    decoded = (executable_calls(step, family) for step in mark.output[0])
    return [calls for calls in decoded if calls]


def last_message(mark: Mark, family: str) -> Any:
    """Return the message of an agentic output that was searched for an answer."""
    return check_answer(mark.output, mark.entry.ground_truth or [], family)[1]
