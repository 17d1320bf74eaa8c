"""Applies the checks of a case to its output. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from console.benchmarks.dialogue.rules.answer import Output, Seen, seen_at_end, seen_in_turn
from console.benchmarks.dialogue.rules.checks import own_rubric, parts_of, read_checks
from console.benchmarks.dialogue.rules.code_tests import check_code
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.judging import check_judged
from console.benchmarks.dialogue.rules.row import (
    AnyCheck,
    AnyOf,
    Calls,
    Choice,
    Contains,
    Equals,
    Instructed,
    JsonSchema,
    Judged,
    NotCalled,
    NumberIs,
    PythonTests,
    Regex,
    TextCheck,
)
from console.benchmarks.dialogue.rules.script import Script
from console.benchmarks.dialogue.rules.text_checks import (
    check_choice,
    check_contains,
    check_equals,
    check_number,
    check_regex,
)
from console.suites.code_run import CodeResult
from console.suites.judging.rubric import Judgement, Rubric


class Findings(NamedTuple):
    """Findings of all checks of a conversation."""

    turns: list[list[Finding]]
    """Findings by turn; a missing turn has a failed finding."""
    at_end: list[Finding]
    """Findings about the last answer and the calls of all turns."""

    def placed(self) -> list[tuple[str, Finding]]:
        """Return all findings in order, each with a name of its location, which is empty for a single turn."""
        if len(self.turns) <= 1:
            return [("", finding) for finding in (*chain(*self.turns), *self.at_end)]
        by_turn = [(f"turn {number}", finding) for number, of_turn in enumerate(self.turns, 1) for finding in of_turn]
        return by_turn + [("at the end", finding) for finding in self.at_end]


def evaluate(script: Script, output: Output) -> Findings:
    """Apply the checks of each turn and those at the end."""
    by_turn: list[list[Finding]] = []
    for number, turn in enumerate(output.turns):
        expected = script.turns[number].expect if number < len(script.turns) else []
        by_turn.append(_evaluate(read_checks(expected), seen_in_turn(turn), script))
    by_turn += [[_not_played()] for _ in script.turns[len(output.turns) :]]
    return Findings(by_turn, _evaluate(read_checks(script.expect), seen_at_end(output), script))


def _not_played() -> Finding:
    return Finding("turn", False, "an answer", "", "not_played", "the turn was not played")


def _evaluate(checks: Sequence[AnyCheck], seen: Seen, script: Script) -> list[Finding]:
    played = _Played(iter(seen.judged), iter(seen.ran))
    return [_finding(check, seen, script, played) for check in checks]


class _Played(NamedTuple):
    """Judgements and code runs made while the conversation was played, in the order of the checks."""

    judgements: Iterator[Judgement]
    runs: Iterator[CodeResult]


def _finding(check: AnyCheck, seen: Seen, script: Script, played: _Played) -> Finding:
    match check:
        case Judged():
            return check_judged(
                own_rubric(check) or script.rubric or Rubric(), next(played.judgements, None), seen.text
            )
        case PythonTests():
            return check_code(check, next(played.runs, None), seen.text)
        case AnyOf():
            return _any_of([_finding(part, seen, script, played) for part in parts_of(check)])
        case Choice(by="logprob"):
            from console.benchmarks.dialogue.rules.letter_choice import check_by_logprob

            return check_by_logprob(check, seen.letters)
        case Calls() | NotCalled():
            return _check_calls(check, seen, script.tools)
        case _:
            return _check_text(check, seen.text)


def _check_text(check: TextCheck, text: str) -> Finding:
    match check:
        case Equals():
            return check_equals(check, text)
        case Contains():
            return check_contains(check, text)
        case Regex():
            return check_regex(check, text)
        case NumberIs():
            return check_number(check, text)
        case Choice():
            return check_choice(check, text)
        case JsonSchema():
            from console.benchmarks.dialogue.rules.text_checks import check_json  # slow to import

            return check_json(check, text)
        case Instructed():
            from console.benchmarks.dialogue.rules.instructions import check_instructions

            return check_instructions(check.instructions, text)


def _check_calls(check: Calls | NotCalled, seen: Seen, tools: Sequence[dict[str, Any]]) -> Finding:
    from console.benchmarks.dialogue.rules.calls_check import check_expected_calls, check_not_called

    return (
        check_expected_calls(check, seen.calls, tools)
        if isinstance(check, Calls)
        else check_not_called(check, seen.calls)
    )


def _any_of(parts: Sequence[Finding]) -> Finding:
    """Combine alternatives: return the first that passes, else an undecided one, else a failure."""
    expected = " or ".join(part.expected for part in parts)
    scores = {name: value for part in parts for name, value in part.scores.items()}
    chosen = next((part for part in parts if part.holds), None) or next(
        (part for part in parts if part.holds is None), None
    )
    if chosen is not None:
        return replace(chosen, kind="any", expected=expected, scores=scores)
    message = "none of these holds: " + "; ".join(part.message for part in parts)
    return Finding("any", False, expected, parts[0].actual, parts[0].reason, message, parts[0].subject, scores=scores)
