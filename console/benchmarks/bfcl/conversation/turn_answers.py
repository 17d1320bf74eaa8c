"""Right and wrong answers of a conversation's steps, made from its ground truth for the simulated models."""

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.conversation.rendering import Doc
from console.benchmarks.bfcl.conversation.scripted_answers import Call
from console.benchmarks.bfcl.rules.entry import Entry
from console.core.chat import ScriptedAnswers, Utterance

_DONE = "That is done."


def scripted_turn(entry: Entry, docs: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
    """Return what the simulated models may answer: all expected calls of the turn at once, then a closing sentence.

    Args:
        entry: with its ground truth.
        docs: the documents offered at this turn; they name positional arguments.
        turn: from 0.
        step: from 0.
    """
    return lambda: _scripted(expected_calls(entry, docs, turn) if step == 0 else [])


def expected_calls(entry: Entry, docs: Sequence[Doc], turn: int) -> list[Call]:
    """Return the expected calls of a turn with named arguments; positional ones get their names from the documents."""
    texts = cast(list[list[str]], entry.ground_truth or [])[turn]
    by_name = {doc["name"]: doc for doc in docs}
    return [_call_by_name(text, by_name) for text in texts]


def _call_by_name(text: str, docs: dict[str, Doc]) -> Call:
    node = ast.parse(text.strip(), mode="eval").body
    assert isinstance(node, ast.Call)
    name = ast.unparse(node.func)
    parameters = list(docs.get(name, {}).get("parameters", {}).get("properties", {}))
    arguments: dict[str, Any] = dict(zip(parameters, (ast.literal_eval(part) for part in node.args), strict=False))
    return name, arguments | {str(part.arg): ast.literal_eval(part.value) for part in node.keywords}


def _scripted(calls: Sequence[Call]) -> ScriptedAnswers:
    if not calls:
        return ScriptedAnswers(Utterance(_DONE))
    name, arguments = calls[-1]
    wrong = [Utterance("Could you tell me more about what you want?")]
    wrong += [Utterance(calls=tuple(calls[:-1]))] if len(calls) > 1 else []
    wrong += [
        Utterance(calls=(*calls[:-1], (name, {**arguments, key: f"other {value}"})))
        for key, value in arguments.items()
        if isinstance(value, str)
    ]
    wrong += [Utterance(calls=(*calls[:-1], (name, {**arguments, "force": True})))]
    return ScriptedAnswers(Utterance(calls=tuple(calls)), tuple(wrong))
