"""From an output to a verdict of ours: passed or failed with the official error type, broken for failed inferences."""

from typing import Any, cast

import msgspec

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decode.reply import decode_reply
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.inference_error import is_unanswered
from console.benchmarks.bfcl.rules.known_bad import why_bad
from console.benchmarks.bfcl.rules.verdict import judge
from console.benchmarks.bfcl.simulators.host import host_of
from console.benchmarks.bfcl.simulators.judging import check_conversation
from console.core.case import Setting
from console.core.fault import Fault
from console.core.outcome import Outcome, Verdict
from console.suites.call_matching.checker import Refusal

_LONGEST = 2000
"""Characters of a text that a verdict keeps."""
_SHORT = 300
"""Those of a result in a conversation that passed."""
_LEVELS = 100
"""Levels of a value that are kept: what reads it may descend into itself."""
BROKEN = "inference_error"
"""Reason of an imported result that records a failed inference."""


def score_output(entry: Entry, output: Any, setting: Setting) -> Verdict:
    """Judge an output of any category but the simulators' conversations; never raises.

    A memory prerequisite is not judged: whatever was said in it, it took place.
    """
    if names.is_prerequisite(entry.id):
        return Verdict(Outcome.PASSED, messages=("setup for other questions, not graded",))
    return verdict_of(entry, output, judge(entry, output, setting), setting)


def score_conversation(entry: Entry, output: Any, setting: Setting, dataset: Dataset) -> Verdict:
    """Judge a conversation with simulators; broken when the simulators fail, because nothing is known of the model."""
    try:
        refusal, finding = check_conversation(entry, output, family_of(setting), host_of(dataset))
    except Fault as fault:
        return Verdict(Outcome.BROKEN, fault.kind.value, messages=(fault.message,))
    verdict = verdict_of(entry, output, refusal, setting)
    return msgspec.structs.replace(verdict, detail=verdict.detail | conversation_detail(refusal, finding))


def conversation_detail(refusal: Refusal | None, finding: dict[str, Any]) -> dict[str, Any]:
    """Return what review and the official score file need of a finding; long texts are cut.

    Of a conversation that passed only the beginnings of the results are kept.
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
    """Put a refusal (None: right) into our terms.

    A recorded inference error is broken, not failed: the model never answered. What the official scorer says of it
    (for irrelevance: right) stands in `official`. An answer that broke the handler is judged.
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


def json_safe(value: Any, levels: int = _LEVELS) -> Any:
    """Return a decoded value as JSON can hold it: what it cannot becomes its source text, what is too deep `…`."""
    if not levels:
        return "…"
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            return value if abs(value) < 2**63 else _source(value)
        case list() | tuple():
            return [json_safe(part, levels - 1) for part in cast(list[Any], value)]
        case dict():
            return {_key(key): json_safe(part, levels - 1) for key, part in cast(dict[Any, Any], value).items()}
        case _:
            return _source(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _source(key)


def _source(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
