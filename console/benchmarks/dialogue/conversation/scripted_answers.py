"""Scripted answers of the simulated model, judge and user: right ones derived from the checks, and wrong ones.

A row can override them (`simulated`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.benchmarks.dialogue.rules.answer import Output, PlayedCall, PlayedTurn
from console.benchmarks.dialogue.rules.checks import parts_of, read_checks, texts
from console.benchmarks.dialogue.rules.row import (
    AnyCheck,
    AnyOf,
    Calls,
    Choice,
    Contains,
    Equals,
    NumberIs,
    RecordedReply,
)
from console.benchmarks.dialogue.rules.script import Script
from console.benchmarks.dialogue.rules.tools import truth_of
from console.core.chat import ScriptedAnswers, Utterance
from console.core.outcome import Outcome
from console.suites.judging.judge import scripted_grades, scripted_reply
from console.suites.judging.rubric import Rubric
from console.suites.simulated_user import SCRIPTED_END, SimulatedUser

_LOST = "I am not sure about that."
_DONE = "That is done."


def scripted_answers_for(script: Script, turn: int, step: int) -> ScriptedAnswers:
    """Return the scripted answers for one step of a turn (calls first, then text), and the recorded one if any."""
    answers = _answers(script, turn, step)
    recorded = script.simulated.recorded if script.simulated else []
    if not recorded:
        return answers
    steps = recorded[turn] if turn < len(recorded) else []
    reply = steps[step] if step < len(steps) else RecordedReply()
    calls = tuple(call for calls in reply.calls for call in calls.items())
    utterance = Utterance(reply.text or None, calls)
    is_wrong = script.kept is not None and script.kept.outcome == Outcome.FAILED.value
    return ScriptedAnswers(answers.right, (utterance, *answers.wrong) if is_wrong else answers.wrong, utterance)


def _answers(script: Script, turn: int, step: int) -> ScriptedAnswers:
    checks = _checks_of(script, turn)
    calls = _right_calls(checks) if step == 0 else ()
    if calls:
        return ScriptedAnswers(Utterance(None, calls))
    own = script.simulated
    wrong = tuple(own.wrong) if own and own.wrong else _wrong_texts(checks)
    right = right_texts(script, turn)
    return ScriptedAnswers(Utterance(right[0]), tuple(Utterance(text) for text in wrong))


def right_texts(script: Script, turn: int) -> list[str]:
    """Return the answers to a turn that simulated models give and simulated judges accept."""
    own = script.simulated.right if script.simulated else []
    if own:
        return [own[min(turn, len(own) - 1)]]
    return [_right_text(_checks_of(script, turn))]


def right_answers(script: Script) -> Output:
    """Return the output of a simulated model that is always right."""
    last = max(len(script.turns), len(script.simulated.right) if script.simulated else 0, 1)
    turns: list[PlayedTurn] = []
    for turn in range(last):
        calls = [PlayedCall(name, json.dumps(arguments)) for name, arguments in _right_calls(_checks_of(script, turn))]
        ends_with_calls = calls and not script.tool_results
        turns.append(PlayedTurn("" if ends_with_calls else right_texts(script, turn)[0], calls=calls))
    return Output(turns)


def scripted_judge(script: Script, rubric: Rubric, answer: str, turn: int) -> ScriptedAnswers:
    """Return the replies of a simulated judge: those that the row scripts for the answer, else grades."""
    judge_replies = script.simulated.judge if script.simulated else {}
    if answer in judge_replies:
        return scripted_reply(rubric, judge_replies[answer])
    return scripted_grades(rubric, is_right=answer in right_texts(script, turn))


def scripted_user_for(script: Script, user: SimulatedUser, turn: int) -> ScriptedAnswers:
    """Return the message of a simulated user: its goal, then facts, then the end."""
    turns = max(len(script.simulated.right) if script.simulated else 1, 1)
    if turn >= turns:
        return ScriptedAnswers(SCRIPTED_END)
    if turn == 0:
        return ScriptedAnswers(Utterance(f"Hello! {user.goal}"))
    return ScriptedAnswers(Utterance(_fact(user.knows, turn - 1)))


def _fact(knows: object, number: int) -> str:
    """Return a sentence with one of the user's facts."""
    if isinstance(knows, dict):
        facts = [f"The {name} is {value}." for name, value in cast(dict[str, Any], knows).items()]
    elif isinstance(knows, list):
        facts = [str(item) for item in cast(list[Any], knows)]
    else:
        facts = [str(knows)] if knows else []
    return facts[number % len(facts)] if facts else "Yes, please go on."


def _checks_of(script: Script, turn: int) -> list[AnyCheck]:
    """Return the checks of a turn's answer, with the first alternative of each `any`."""
    scripted = script.turns[turn].expect if turn < len(script.turns) else []
    is_last = turn >= _last_turn(script)
    return [_first_of(check) for check in read_checks([*scripted, *(script.expect if is_last else [])])]


def _last_turn(script: Script) -> int:
    """Return the number of the last turn; with a simulated user, the number of the last scripted answer."""
    if script.user is None:
        return len(script.turns) - 1
    return len(script.simulated.right) - 1 if script.simulated else 0


def _first_of(check: AnyCheck) -> AnyCheck:
    return parts_of(check)[0] if isinstance(check, AnyOf) else check


def _right_calls(checks: Sequence[AnyCheck]) -> tuple[tuple[str, dict[str, Any]], ...]:
    expected = [truth for check in checks if isinstance(check, Calls) for truth in truth_of(check.calls)]
    return tuple((name, _first_allowed(arguments)) for call in expected for name, arguments in call.items())


def _first_allowed(arguments: Mapping[str | None, Any]) -> dict[str, Any]:
    return {str(key): _value(values[0]) for key, values in arguments.items() if values and values[0] != ""}


def _value(value: Any) -> Any:
    """Return an allowed value, choosing the first allowed value of each key in tables and in lists of tables."""
    if isinstance(value, list):
        return [_value(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    parts = {
        key: cast(list[Any], part) if isinstance(part, list) else [part]
        for key, part in cast(dict[str, Any], value).items()
    }
    return {key: part[0] for key, part in parts.items() if part and part[0] != ""}


def _right_text(checks: Sequence[AnyCheck]) -> str:
    """Return a text that passes the checks with a known answer."""
    exact = next((check for check in checks if isinstance(check, Equals)), None)
    if exact is not None:
        return texts(exact.equals)[0]
    parts: list[str] = []
    for check in checks:
        match check:
            case Contains():
                parts += texts(check.contains)
            case NumberIs():
                parts.append(str(check.number))
            case Choice():
                parts.append(f"Answer: {check.choice.upper()}")
            case _:
                pass
    return f"I think it is {', '.join(parts)}" if parts else _DONE


def _wrong_texts(checks: Sequence[AnyCheck]) -> tuple[str, ...]:
    wrong: list[str] = [_LOST]
    for check in checks:
        match check:
            case NumberIs():
                wrong.append(f"That makes {float(str(check.number).replace(',', '')) * 1.1 + 1:.6g}.")
            case Choice():
                wrong.append(f"Answer: {chr((ord(check.choice.upper()) - ord('A') + 1) % 4 + ord('A'))}")
            case Equals():
                wrong.append(f"It is {texts(check.equals)[0]}, I believe.")
            case _:
                pass
    return tuple(wrong)
