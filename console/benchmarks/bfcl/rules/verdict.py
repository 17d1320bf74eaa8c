"""Official verdict on one output, for all categories except conversations with simulators.

Relevance and irrelevance judge only the presence of a call; any undecodable output counts as no call, including prose,
syntax errors and failed inferences.
"""

from typing import Any

from console.benchmarks.bfcl.models.decode.reply import WRONG_FORMAT, decode_reply
from console.benchmarks.bfcl.models.decoding import family_of, sent_underscored
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.agentic_answer import check_answer
from console.benchmarks.bfcl.rules.entry import Entry
from console.core.case import Setting
from console.suites.call_matching.checker import Refusal, check_calls

CALLED = "irrelevance_error:decoder_success"
NOT_CALLED = "relevance_error:decoder_failed"
_AGENTIC = {
    "agentic:inference_error": "the output is not one turn of steps",
    "agentic:no_last_message": "there is no message that is not a call",
    "agentic:answer_not_found": "no acceptable answer occurs in the last message",
}


def judge(entry: Entry, output: Any, setting: Setting) -> Refusal | None:
    """Judge an output by the official rules; None if correct. Never raises for a bad output.

    Args:
        entry: entry with ground truth, not multi-turn.
        output: result in the official format: a string, native calls, or turns of steps.
        setting: the setting of the run.
    """
    if names.is_agentic(entry.category):
        error_type, _ = check_answer(output, entry.ground_truth or [], family_of(setting))
        return Refusal(error_type, _AGENTIC[error_type]) if error_type else None
    if names.is_relevance(entry.judged_as):
        return _judge_relevance(output, entry.judged_as, family_of(setting))
    return judge_calls(entry, output, setting)


def judge_calls(entry: Entry, output: Any, setting: Setting) -> Refusal | None:
    """Judge an output of a category with expected calls; None if correct."""
    decoded = decode_reply(output, entry.judged_as, family_of(setting), entry.config)
    if decoded.error_type:
        problem = "decoded to something else" if decoded.error_type == WRONG_FORMAT else "could not be decoded"
        return Refusal(decoded.error_type, f"the answer {problem}: {decoded.message}")
    return check_calls(
        entry.function,
        decoded.calls,
        entry.ground_truth or [],
        names.call_rule_of(entry.judged_as),
        underscored=sent_underscored(setting),
    )


def has_call(output: Any, family: str) -> bool:
    """Return whether an output decodes to at least one call; an empty object is not a call."""
    calls = decode_reply(output, "python", family).calls
    return bool(calls) and calls != [{}]


def _judge_relevance(output: Any, category: str, family: str) -> Refusal | None:
    called = has_call(output, family)
    if "irrelevance" in category:
        return Refusal(CALLED, "there is a call, but none is expected") if called else None
    return None if called else Refusal(NOT_CALLED, "there is no call")
