"""Comparison of an output with ground truth for review, with the smallest change that would pass."""

from collections.abc import Sequence
from typing import Any

from console.benchmarks.bfcl.conversation.scripted_answers import right_calls, write
from console.benchmarks.bfcl.models.decode.reply import decode_reply
from console.benchmarks.bfcl.models.decoding import family_of, sent_underscored
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.agentic_answer import check_answer
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.known_bad import why_bad
from console.core.case import Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.suites.call_matching.pairing import Paired, Pairing, as_text
from console.suites.call_matching.source_text import alternatives, call_text, literal

_WORDS = {
    "wrong_func_name": "wrong function",
    "missing_required": "missing argument",
    "missing_optional": "missing argument",
    "unexpected_param": "argument not expected",
    "type_error:simple": "wrong type",
    "type_error:nested": "wrong type inside",
    "type_error:java": "not written as text",
    "type_error:js": "not written as text",
    "value_error:string": "wrong value",
    "value_error:others": "wrong value",
    "value_error:list/tuple": "wrong list",
    "value_error:dict_key": "wrong key",
    "value_error:dict_value": "wrong value in a dictionary",
    "value_error:list_dict_count": "wrong number of dictionaries",
    "uncheckable": "a value that cannot be checked",
}
_RAW = 20_000
"""Maximum number of characters of raw output shown."""


def compare_output(entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
    """Compare expected with actual for all entries except multi-turn conversations."""
    if names.is_prerequisite(entry.id):
        return Comparison("not graded: it fills the memory for later questions")
    if names.is_agentic(entry.category):
        return _answer(entry, output, verdict, setting)
    if names.is_relevance(entry.judged_as):
        return _relevance(entry, output, verdict, setting)
    return _calls(entry, output, verdict, setting)


def _calls(entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
    decoded = decode_reply(output, entry.judged_as, family_of(setting), entry.config)
    underscored = sent_underscored(setting)
    pairing = Pairing(entry.function, names.call_rule_of(entry.judged_as), underscored=underscored)
    truth = entry.ground_truth or []
    paired = pairing.pairs(decoded.calls, truth)
    pairs = tuple(item.pair for item in paired)
    bad = why_bad(entry.id)
    if decoded.error_type:
        hint = bad or _expected_format(entry, setting)
        sentence = f"could not parse the answer: {decoded.message}"
        return Comparison(sentence, pairs, _rule(verdict), hint, _shown(output))
    if verdict.outcome is Outcome.PASSED:
        return Comparison("all calls are right", pairs)
    sentence, hint = _sentence(paired, decoded.calls, truth)
    return Comparison(sentence, pairs, _rule(verdict), bad or hint)


def _sentence(paired: Sequence[Paired], calls: Sequence[Any], truth: Sequence[Any]) -> tuple[str, str]:
    """Describe the error, and the smallest change that would pass."""
    missing = [item for item in paired if item.actual is None]
    extra = [item for item in paired if item.expected is None]
    if len(calls) < len(truth):
        problem = "no call at all" if not calls else f"missing call: {missing[0].pair.expected}"
        return problem, f"also calling {' and '.join(_expected_text(item) for item in missing)}"
    if len(calls) > len(truth):
        listed = " and ".join(as_text(item.actual) for item in extra if item.actual)
        return f"extra call: {extra[0].pair.actual}", f"leaving out {listed}"
    number, wrong = next(((n, item) for n, item in enumerate(paired, 1) if item.refusal), (0, None))
    if wrong is None or wrong.refusal is None:
        return "refused", ""
    kind = wrong.refusal.error_type
    words = _WORDS.get(kind) or _WORDS.get(kind.rpartition(":")[2], kind)
    position = f" (call {number}, {wrong.pair.expected})" if len(truth) > 1 else ""
    subject = wrong.pair.actual if words == "wrong function" else wrong.refusal.subject
    return f"{words}{f': {subject}' if subject else ''}{position}", _change(wrong.pair)


def _expected_text(paired: Paired) -> str:
    arguments = {row.name: row.expected[0] for row in paired.pair.rows if row.expected and not row.optional}
    return f"{paired.pair.expected}({', '.join(f'{key}={value}' for key, value in arguments.items())})"


def _change(pair: Pair) -> str:
    """Return the changes that make a call pass, the decisive one first."""
    wrong = [row for row in pair.rows if row.mark not in (Mark.SAME, Mark.OMITTED)]
    wrong.sort(key=lambda row: not row.decisive)
    parts = [f"calling {pair.expected}"] if pair.expected != pair.actual else []
    parts += [_row_change(row) for row in wrong[:3]]
    return ", ".join(parts) + (f" and {len(wrong) - 3} more changes" if len(wrong) > 3 else "")


def _row_change(row: Row) -> str:
    if row.mark is Mark.EXTRA or (not row.expected and row.optional):
        return f"without {row.name}"
    return f"{row.name}={row.expected[0] if row.expected else '…'}"


def _relevance(entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
    calls = decode_reply(output, "python", family_of(setting)).calls
    called = bool(calls) and calls != [{}]
    belongs = "irrelevance" not in entry.judged_as
    mark = Mark.SAME if belongs else Mark.EXTRA
    pairs = tuple(_free_call(call, mark) for call in calls if call)
    if verdict.outcome is Outcome.PASSED:
        return Comparison("called, as expected" if belongs else "did not call, as expected", pairs, raw=_shown(output))
    if belongs:
        return Comparison(
            "did not call when it should", pairs, _rule(verdict), "any call of an offered function", _shown(output)
        )
    sentence = "called when it should not" if called else "no answer"
    return Comparison(sentence, pairs, _rule(verdict), "any answer without a call", _shown(output))


def _free_call(call: dict[str, dict[Any, Any]], mark: Mark) -> Pair:
    name, arguments = next(iter(call.items()))
    return Pair(mark, "", str(name), tuple(Row(mark, str(key), (), literal(value)) for key, value in arguments.items()))


def _answer(entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
    _, message = check_answer(output, entry.ground_truth or [], family_of(setting))
    passed = verdict.outcome is Outcome.PASSED
    shown = message if isinstance(message, str) else None if message is None else literal(message)
    row = Row(
        Mark.SAME if passed else Mark.DIFFERS, "answer", alternatives(entry.ground_truth), shown, decisive=not passed
    )
    pair = Pair(row.mark, "final message", "final message" if shown else "", (row,))
    sentence = "the answer is right" if passed else "; ".join(verdict.messages) or "no usable answer"
    hint = "" if passed else "a last message that contains one of the expected answers as whole words"
    return Comparison(sentence, (pair,), _rule(verdict), hint, "" if shown else _shown(output))


def _expected_format(entry: Entry, setting: Setting) -> str:
    """Describe the expected format: an example for generic decode families, else the name of the family."""
    family, right = family_of(setting), _right(entry, setting.mode)
    if family in ("prompt", "fc_json"):
        return f"an answer in the format {right}"
    return f"{right}, in the format of the decode family {family}"


def _right(entry: Entry, mode: str) -> str:
    utterance = write(right_calls(entry), entry, mode)
    if utterance.content:
        return utterance.content
    text = ", ".join(call_text(name, arguments) for name, arguments in utterance.calls)
    return f"[{text}]" if mode != "fc" else text


def _rule(verdict: Verdict) -> str:
    return "  ".join(part for part in (verdict.reason or "", *verdict.messages[:1]) if part)


def _shown(output: Any) -> str:
    return (output if isinstance(output, str) else literal(output))[:_RAW]
