"""Scripted answers for the simulated models: a right one that follows from the checks, and plausible wrong ones."""

from collections.abc import Mapping
from typing import Any

from console.core.chat import ScriptedAnswers, Utterance
from console.suites.dialogue.checks import parts_of, read_checks, texts
from console.suites.dialogue.row import AnyCheck, AnyOf, Calls, Choice, Contains, Equals, NumberIs
from console.suites.dialogue.script import Script
from console.suites.dialogue.tools import truth_of

_LOST = "I am not sure about that."


def scripted_answers_for(script: Script, turn: int, step: int) -> ScriptedAnswers:
    """Return the scripted answers at one step of a turn: first the calls, then the text."""
    checks = _checks_of(script, turn)
    calls = _right_calls(checks) if step == 0 else ()
    if calls:
        return ScriptedAnswers(Utterance(None, calls))
    own = script.simulated
    right = own.right[min(turn, len(own.right) - 1)] if own and own.right else _right_text(checks)
    wrong = tuple(own.wrong) if own and own.wrong else _wrong_texts(checks)
    return ScriptedAnswers(Utterance(right), tuple(Utterance(text) for text in wrong))


def _checks_of(script: Script, turn: int) -> list[AnyCheck]:
    """Return the checks that the answer of a turn has to meet."""
    scripted = script.turns[turn].expect if turn < len(script.turns) else []
    is_last = turn >= len(script.turns) - 1
    return [_one_of(check) for check in read_checks([*scripted, *(script.expect if is_last else [])])]


def _one_of(check: AnyCheck) -> AnyCheck:
    return parts_of(check)[0] if isinstance(check, AnyOf) else check


def _right_calls(checks: list[AnyCheck]) -> tuple[tuple[str, dict[str, Any]], ...]:
    expected = [truth for check in checks if isinstance(check, Calls) for truth in truth_of(check.calls)]
    return tuple((name, _first_allowed(arguments)) for call in expected for name, arguments in call.items())


def _first_allowed(arguments: Mapping[str | None, Any]) -> dict[str, Any]:
    return {str(key): _value(values[0]) for key, values in arguments.items() if values and values[0] != ""}


def _value(value: Any) -> Any:
    return {key: parts[0] for key, parts in value.items()} if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType]


def _right_text(checks: list[AnyCheck]) -> str:
    """Return a text that meets the checks whose answer is known; a single exact one is given as it is."""
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
    return f"I think it is {', '.join(parts[:-1])}{', ' if parts[1:] else ''}{parts[-1]}" if parts else "That is done."


def _wrong_texts(checks: list[AnyCheck]) -> tuple[str, ...]:
    wrong: list[str] = [_LOST]
    for check in checks:
        match check:
            case NumberIs():
                wrong.append(f"That makes {float(str(check.number).replace(',', '')) * 1.1 + 1:.6g}.")
            case Choice():
                other = "ABCD"[("ABCD".find(check.choice.upper()) + 1) % 4]
                wrong.append(f"Answer: {other}")
            case Equals():
                wrong.append(f"It is {texts(check.equals)[0]}, I believe.")
            case _:
                pass
    return tuple(wrong)
