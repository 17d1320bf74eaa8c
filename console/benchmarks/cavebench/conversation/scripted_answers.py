"""Scripted answers for simulated models: a correct step and plausible wrong ones, in either mode.

A scenario may give a turn its own `cue`: `code` (cave mode), `calls` (JSON mode, `[name, arguments]` pairs) and
`answer`. Otherwise the expected calls make up the step.
"""

from typing import Any, cast

from console.benchmarks.cavebench.options import Mode
from console.benchmarks.cavebench.rules.expectation import ExpectedCall, read_expectation
from console.core.chat import ScriptedAnswers, Utterance

_DONE = "Done."


def scripted_answers_for(turn: dict[str, Any], mode: Mode, step: int) -> ScriptedAnswers:
    """Return the scripted answers at one step of a turn: its calls or code first, then the answer."""
    script = cast("dict[str, Any]", turn.get("cue") or {})
    answer = Utterance(str(script.get("answer", _DONE)))
    wrong_answer = Utterance("I could not find out.")
    if step > 0:
        return ScriptedAnswers(answer, (wrong_answer,))
    calls = own_calls(script) if "calls" in script else expected_calls(turn)
    if mode == "json":
        right = Utterance(None, calls) if calls else answer
        return ScriptedAnswers(right, (Utterance(None, _mutated(calls)), wrong_answer) if calls else (wrong_answer,))
    code = str(script["code"]) if "code" in script else as_code(calls)
    if not code:
        return ScriptedAnswers(answer, (wrong_answer,))
    wrong = as_code(_mutated(calls)) or "print(undefined_name)"
    return ScriptedAnswers(_cell(code), (_cell(wrong), wrong_answer))


def own_calls(script: dict[str, Any]) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the calls in the scenario's own scripted answer."""
    return tuple((str(name), dict(arguments)) for name, arguments in script["calls"])


def expected_calls(turn: dict[str, Any]) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return calls that meet a turn's expectations, as far as these specify values."""
    return tuple((call.name, _values(call)) for call in read_expectation(turn).calls if call.required)


def as_code(calls: tuple[tuple[str, dict[str, Any]], ...]) -> str:
    """Return calls as a code cell that prints their results."""
    return "\n".join(
        f"print({name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())}))"
        for name, arguments in calls
    )


def _values(call: ExpectedCall) -> dict[str, Any]:
    return {argument.name: argument.value for argument in call.arguments if argument.value is not None}


def _mutated(calls: tuple[tuple[str, dict[str, Any]], ...]) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the calls with a wrong first argument in the last one, or without the last one."""
    if not calls:
        return ()
    name, arguments = calls[-1]
    if not arguments:
        return calls[:-1]
    key, value = next(iter(arguments.items()))
    wrong = value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else f"{value}?"
    return (*calls[:-1], (name, arguments | {key: wrong}))


def _cell(code: str) -> Utterance:
    return Utterance(f"```python\n{code}\n```")
