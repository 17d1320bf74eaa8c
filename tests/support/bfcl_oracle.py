"""A model that knows the official answers: right for most entries, wrong or faulty for some, always the same way."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from server.openai_server import Scripted

from console.benchmarks.bfcl.conversation.scripted_answers import scripted_answers_for, written
from console.benchmarks.bfcl.conversation.single_turn import question_of
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.handlers.generic import GENERIC
from console.benchmarks.bfcl.rules.entry import entry_of
from console.benchmarks.bfcl.rules.variation import DEFAULT, read_variation
from console.core.case import Case
from console.core.chat import Utterance


def digest(messages: Sequence[Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


class Oracle:
    """Answers chat requests for known cases; of every ten one is wrong, one fails twice first, one stops short once."""

    def __init__(self, cases: Iterable[Case], wording: Wording, mode: str) -> None:
        self.answers: dict[str, Scripted] = {}
        self.kinds: Counter[str] = Counter()
        self.strangers = 0
        for number, case in enumerate(cases):
            entry = entry_of(case)
            messages, _, _ = question_of(entry, wording, GENERIC[mode])
            answers = scripted_answers_for(entry, mode)
            wrong = number % 10 == 3 and bool(answers.wrong)
            said = _scripted(answers.wrong[number % len(answers.wrong)] if wrong else answers.right, mode)
            if number % 10 == 7:
                said.fault = "r500x2"
            if number % 10 == 9:
                said.fault = "s_cutx1"
            self.kinds["wrong" if wrong else "right"] += 1
            self.answers[digest(messages)] = said

    def __call__(self, request: dict[str, Any]) -> Scripted:
        known = self.answers.get(digest(request["messages"]))
        if known is None:
            self.strangers += 1
            return Scripted("I do not know this question.")
        return known


def _scripted(utterance: Utterance, mode: str) -> Scripted:
    if mode == "prompt" and utterance.calls:
        return Scripted(written(utterance.calls, read_variation(DEFAULT)))
    return Scripted(content=utterance.content, calls=list(utterance.calls))
