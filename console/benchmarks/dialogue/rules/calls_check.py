"""Checks of tool calls, with BFCL's checker and pairing."""

from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.dialogue.rules.answer import PlayedCall, read_arguments
from console.benchmarks.dialogue.rules.checks import texts
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import Calls, NotCalled
from console.benchmarks.dialogue.rules.tools import documents_of, truth_of
from console.core.comparison import Mark, Pair
from console.suites.call_matching.checker import Call, CallRule, check_calls
from console.suites.call_matching.pairing import Pairing, as_text

_ANY_ORDER = CallRule("parallel")


def check_expected_calls(check: Calls, played: Sequence[PlayedCall], tools: Sequence[dict[str, Any]]) -> Finding:
    """Compare actual with expected calls, in any order."""
    truth = truth_of(check.calls)
    expected = ", ".join(next(iter(call)) for call in truth) or "no call"
    arguments = [read_arguments(call.arguments) for call in played]
    if None in arguments:
        unread = played[arguments.index(None)]
        message, actual = f"the arguments of {unread.name} are not a JSON object", f"{unread.name}({unread.arguments})"
        return Finding("calls", False, expected, actual, "bad_arguments", message, unread.name)
    calls: list[Call] = [{call.name: cast(Any, values)} for call, values in zip(played, arguments, strict=True)]
    documents = documents_of(tools, truth)
    refusal = check_calls(documents, calls, truth, _ANY_ORDER)
    actual = ", ".join(as_text(call) for call in calls) if refusal else expected
    pairing = Pairing(documents, _ANY_ORDER, underscored=False)

    def make_pairs() -> list[Pair]:
        return [item.pair for item in pairing.pairs(calls, truth)]

    if refusal is None:
        return Finding("calls", True, expected, actual, make_pairs=make_pairs)
    reason, message, subject = _first_difference(refusal.error_type, pairing, calls, truth) or (
        refusal.error_type,
        refusal.message,
        refusal.subject,
    )
    return Finding("calls", False, expected, actual, reason, message, subject, make_pairs)


def _first_difference(
    error_type: str, pairing: Pairing, calls: Sequence[Call], truth: Sequence[Call]
) -> tuple[str, str, str] | None:
    """Return the difference to the most similar call if no call matches, else None."""
    if not error_type.endswith("cannot_find_match"):
        return None
    refusal = next((item.refusal for item in pairing.pairs(calls, truth) if item.refusal is not None), None)
    return None if refusal is None else (refusal.error_type, refusal.message, refusal.subject)


def check_not_called(check: NotCalled, played: Sequence[PlayedCall]) -> Finding:
    """Check that forbidden calls are absent."""
    forbidden = texts(check.not_called)
    calls = [call for call in played if check.not_called is True or call.name in forbidden]
    expected = "no call" if check.not_called is True else f"no call of {' or '.join(forbidden)}"
    if not calls:
        return Finding("not_called", True, expected, "not called")
    actual = ", ".join(f"{call.name}({call.arguments})" for call in calls)
    message = f"{calls[0].name} was called"

    def make_pairs() -> list[Pair]:
        return [Pair(Mark.EXTRA, "", f"{call.name}({call.arguments})", note=expected) for call in calls]

    return Finding("not_called", False, expected, actual, "forbidden_call", message, calls[0].name, make_pairs)
