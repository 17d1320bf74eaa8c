"""Scoring: verdicts on single outputs of a run, and judgments of whole categories for score files.

A verdict is passed, failed with the official error type, or broken for a failed inference. Conversations with
simulators are replayed in the worker, which is loaded only for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decode.reply import decode_reply, json_safe
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.inference_error import is_unanswered
from console.benchmarks.bfcl.rules.known_bad import why_bad
from console.benchmarks.bfcl.rules.verdict import judge
from console.core.case import Setting
from console.core.fault import Fault
from console.core.outcome import Outcome, Verdict
from console.suites.call_matching.checker import Refusal

_LONGEST = 2000
"""Maximum number of characters in a text in a verdict."""
_SHORT = 300
"""Maximum number of characters in a result in a passed conversation."""
BROKEN = "inference_error"
"""Reason of an imported failed inference."""


def score_output(entry: Entry, output: Any, setting: Setting) -> Verdict:
    """Score an output of any category except multi-turn; never raises.

    Memory prerequisites are not judged and always pass.
    """
    if names.is_prerequisite(entry.id):
        return Verdict(Outcome.PASSED, messages=("setup for other questions, not graded",))
    return verdict_of(entry, output, judge(entry, output, setting), setting)


def score_conversation(entry: Entry, output: Any, setting: Setting, dataset: Dataset) -> Verdict:
    """Score a conversation with simulators; broken if the simulators fail."""
    from console.benchmarks.bfcl.simulators.host import host_of
    from console.benchmarks.bfcl.simulators.judging import check_conversation

    try:
        refusal, finding = check_conversation(entry, output, family_of(setting), host_of(dataset))
    except Fault as fault:
        return Verdict(Outcome.BROKEN, fault.kind.value, messages=(fault.message,))
    verdict = verdict_of(entry, output, refusal, setting)
    return msgspec.structs.replace(verdict, detail=verdict.detail | conversation_detail(refusal, finding))


def conversation_detail(refusal: Refusal | None, finding: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a finding for review and the official score file, with truncated texts.

    A passed conversation keeps only short results.
    """
    if refusal is None:
        return {"turns": _cut(finding["turns"], _SHORT)} if "turns" in finding else {}
    kept = {key: finding[key] for key in ("turn", "turns", "differences", "missing", "decoded") if key in finding}
    error = {"error_message": refusal.message, "error_type": refusal.error_type}
    details = {key: kept[key] for key in ("differences", "missing") if key in kept}
    return _cut(kept | {"error": error | ({"details": details} if details else {})})


def _cut(value: Any, longest: int = _LONGEST) -> Any:
    match value:
        case str():
            return value if len(value) <= longest else f"{value[:longest]}…"
        case list():
            return [_cut(part, longest) for part in cast(list[Any], value)]
        case dict():
            return {key: _cut(part, longest) for key, part in cast(dict[str, Any], value).items()}
        case _:
            return value


def verdict_of(entry: Entry, output: Any, refusal: Refusal | None, setting: Setting) -> Verdict:
    """Convert the checker's error (None if correct) to a verdict.

    A failed inference is broken, with the official verdict (correct for irrelevance) in `official`. An answer that
    crashed the handler is judged.
    """
    if is_unanswered(output):
        official = Outcome.FAILED if refusal else Outcome.PASSED
        reason = refusal.error_type if refusal else BROKEN
        return Verdict(Outcome.BROKEN, reason, messages=(output[:500],), official=official.value)
    if refusal is None:
        return Verdict(Outcome.PASSED)
    detail: dict[str, Any] = {}
    if names.is_single_turn(entry.category):
        decoded = decode_reply(output, entry.judged_as, family_of(setting), entry.config)
        detail["decoded"] = json_safe(decoded.value)
    if bad := why_bad(entry.id):
        detail["known_bad"] = bad
    return Verdict(Outcome.FAILED, refusal.error_type, refusal.subject, (refusal.message,), detail=detail)


@dataclass(frozen=True, slots=True)
class Mark:
    """The official scorer's judgment of one output."""

    entry: Entry
    output: Any
    refusal: Refusal | None
    """The checker's error; None if the output is correct."""
    finding: dict[str, Any] = field(default_factory=dict[str, Any])
    """For a rejected conversation with simulators: executed turns, and the `record` of the score file."""


def mark_outputs(
    dataset: Dataset, category: str, outputs: Sequence[tuple[str, Any]], setting: Setting
) -> Iterator[Mark]:
    """Judge pairs of entry id and output, in order.

    Raises:
        Fault: the simulators cannot be started.
        UsageError: invalid data.
        KeyError: unknown id.
    """
    entries = dataset.entries(category)
    pairs = [(entries[entry_id], output) for entry_id, output in outputs]
    if not names.is_multi_turn(category):
        for entry, output in pairs:
            yield Mark(entry, output, judge(entry, output, setting))
        return
    from console.benchmarks.bfcl.simulators.host import host_of
    from console.benchmarks.bfcl.simulators.judging import check_conversations

    judged = check_conversations(pairs, family_of(setting), host_of(dataset), recorded=True)
    for (entry, output), (refusal, finding) in zip(pairs, judged, strict=True):
        yield Mark(entry, output, refusal, finding)
