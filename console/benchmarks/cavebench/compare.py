"""Compares expected with actual for review: calls by argument with the match explained, variables, the validator."""

from typing import Any, cast

from console.benchmarks.cavebench.rules.expectation import ExpectedArgument, ExpectedCall
from console.benchmarks.cavebench.rules.match import ActualCall, Match
from console.benchmarks.cavebench.rules.value import (
    Comparable,
    EvaluatorError,
    TooLong,
    TypeRule,
    comparable,
    fits,
    is_same,
    text_of,
    type_name_of,
)
from console.benchmarks.cavebench.rules.verdict import JudgedTurn, judge_turns
from console.core.case import Case
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Verdict

_SHOWN_TEXT = 2000
"""Maximum length of a canonical text shown as the reason for equality."""
_SENTENCES = {
    "missing_function": "an expected function was not called often enough",
    "missing_argument": "an argument is missing",
    "wrong_argument_value": "an argument has the wrong value",
    "wrong_argument_type": "an argument has the wrong type",
    "unexpected_argument": "an argument was not expected",
    "missing_variable_read": "a variable was not read",
    "missing_variable_write": "a variable was not written",
    "validator_failed": "the scenario's validator disagreed",
    "validator_error": "the scenario's validator raised an exception",
    "evaluator_error": "the turn cannot be judged",
    "hook_error": "the turn's hook raised an exception",
    "sandbox_timeout": "the code ran too long",
    "sandbox_died": "the code ended its process",
    "not_played": "the turn was not played",
    "bad_record": "the record of the turn is damaged",
    "sandbox_protocol": "the code broke out of its role",
}


def compare_case(case: Case, output: Any, verdict: Verdict, rule: TypeRule) -> Comparison:
    """Compare a whole conversation, turn by turn."""
    turns = judge_turns(case, output, rule)
    pairs: list[Pair] = []
    for number, turn in enumerate(turns):
        pairs += _call_pairs(number, turn, rule)
        pairs += _variable_pairs(number, turn)
        pairs += _validator_pair(number, turn)
    subject = f": {verdict.subject}" if verdict.subject else ""
    sentence = _SENTENCES.get(verdict.reason or "", verdict.reason or "every turn succeeded") + subject
    return Comparison(
        sentence=sentence,
        pairs=tuple(pairs),
        rule="; ".join(filter(None, [verdict.reason or "", *verdict.messages[:1]])),
        hint=_hint(turns),
        turns=tuple(map(_turn_mark, turns)),
    )


def _turn_mark(turn: JudgedTurn) -> Mark:
    return Mark.SAME if turn.success else Mark.OMITTED if turn.reason == "not_played" else Mark.DIFFERS


def _call_pairs(number: int, turn: JudgedTurn, rule: TypeRule) -> list[Pair]:
    matches = {match.expected_index: match for match in turn.score.matches} if turn.score else {}
    taken = {match.actual_index for match in matches.values()}
    pairs = [
        _expected_pair(number, turn, index, matches.get(index), rule) for index in range(len(turn.expectation.calls))
    ]
    named = {call.name for call in turn.expectation.calls}
    for index, call in enumerate(turn.record.calls):
        if index not in taken:
            note = "no expectation left for it" if call.function in named else "not expected; extra calls never fail"
            pairs.append(Pair(Mark.EXTRA, actual=_actual_text(call), note=note, turn=number))
    return pairs


def _expected_pair(number: int, turn: JudgedTurn, index: int, match: Match | None, rule: TypeRule) -> Pair:
    expected = turn.expectation.calls[index]
    if match is None or match.actual_index is None:
        mark = Mark.MISSING if expected.required else Mark.OMITTED
        note = "" if expected.required else "optional"
        if match is not None and expected.required:
            note = "an earlier expectation matched the only call left"
        elif match is None and any(call.function == expected.name for call in turn.record.calls):
            note = "called too few times; its arguments are not compared"
        return Pair(mark, expected=_expected_text(expected), note=note, turn=number)
    actual = turn.record.calls[match.actual_index]
    rows = tuple(_rows(expected, actual, rule))
    wrong = any(row.mark in (Mark.DIFFERS, Mark.MISSING, Mark.WRONG_TYPE) or row.decisive for row in rows)
    note = f"compared with call {match.actual_index + 1} (closest)"
    return Pair(
        Mark.DIFFERS if wrong else Mark.SAME,
        expected=_expected_text(expected),
        actual=_actual_text(actual),
        rows=rows,
        note=note if match.cost else "",
        turn=number,
    )


def _rows(expected: ExpectedCall, actual: ActualCall, rule: TypeRule) -> list[Row]:
    arguments = cast("dict[str, Any]", actual.arguments if isinstance(actual.arguments, dict) else {})
    rows = [_row(argument, arguments, rule) for argument in expected.arguments]
    listed = {argument.name for argument in expected.arguments}
    strict = expected.strict_args and bool(expected.arguments)
    for name, value in arguments.items():
        if name not in listed:
            note = "unexpected, and this call is strict" if strict else "not compared"
            rows.append(Row(Mark.EXTRA, name, actual=repr(value), note=note, decisive=strict))
    return rows


def _row(argument: ExpectedArgument, arguments: dict[str, Any], rule: TypeRule) -> Row:
    expected = (repr(argument.value),) if argument.value is not None else ("any value",)
    kind = f"type {argument.type}" if argument.type is not None else ""
    if argument.name not in arguments:
        mark = Mark.MISSING if argument.required else Mark.OMITTED
        return Row(mark, argument.name, expected, note=kind, decisive=argument.required, optional=not argument.required)
    value = arguments[argument.name]
    differs, note = _difference(argument, value)
    wrong_type = argument.type is not None and value is not None and not fits(value, argument.type, rule)
    if wrong_type:
        note = f"expected type {argument.type}, got {type_name_of(value)}"
    mark = Mark.DIFFERS if differs else Mark.WRONG_TYPE if wrong_type else Mark.SAME
    bad = differs or wrong_type
    return Row(mark, argument.name, expected, repr(value), note or kind, decisive=bad, optional=not argument.required)


def _difference(argument: ExpectedArgument, value: Any) -> tuple[bool, str]:
    """Return whether the values differ, and the conversion that made them comparable."""
    if argument.value is None:
        return False, ""
    try:
        left, right = comparable(argument.value), comparable(value)
    except EvaluatorError as error:
        return True, f"cannot be judged: {error}"
    if not is_same(left, right):
        return True, ""
    return False, "" if repr(argument.value) == repr(value) else f"equal as text{_text_if_short(left)}"


def _text_if_short(value: Comparable) -> str:
    try:
        return f": {text_of(value, _SHOWN_TEXT)}"
    except TooLong:
        return ""


def _variable_pairs(number: int, turn: JudgedTurn) -> list[Pair]:
    if turn.score is None:
        return []
    seen = turn.score.access
    sides = (("read", turn.expectation.reads, seen.reads), ("write", turn.expectation.writes, seen.writes))
    return [
        Pair(
            Mark.SAME if name in touched else Mark.MISSING,
            expected=f"{verb} {name}",
            actual=f"{verb} {name}" if name in touched else "",
            note=f"in {touched.count(name)} cells" if touched.count(name) > 1 else "",
            turn=number,
            kind=verb,
        )
        for verb, names, touched in sides
        for name in names
    ]


def _validator_pair(number: int, turn: JudgedTurn) -> list[Pair]:
    answer = turn.record.validator
    if answer is None:
        errors = turn.errors if turn.score is None else ()
        return [Pair(Mark.MISSING, note=text, turn=number, kind="result") for text in errors]
    mark = Mark.SAME if answer.success else Mark.DIFFERS
    answer_text = "validator agrees" if answer.success else answer.message or "validator disagrees"
    return [Pair(mark, expected="validator agrees", actual=answer_text, turn=number, kind="validator")]


def _hint(turns: list[JudgedTurn]) -> str:
    failed = [number for number, turn in enumerate(turns, start=1) if not turn.success]
    if not failed:
        return ""
    return f"when no turn fails; failed: turn{'s' * (len(failed) > 1)} {' '.join(map(str, failed))}"


def _expected_text(call: ExpectedCall) -> str:
    parts = [f"{item.name}={'…' if item.value is None else repr(item.value)}" for item in call.arguments]
    return f"{call.name}({', '.join(parts)})"


def _actual_text(call: ActualCall) -> str:
    if not isinstance(call.arguments, dict):
        return f"{call.function}({call.arguments!r})"
    arguments = cast("dict[str, Any]", call.arguments)
    return f"{call.function}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
