"""A model that plays the ground truth of multi-turn conversations, from nothing but what it is sent.

It keeps no state: which entry is meant shows in the user's sentences, which turn in how many of its own answers held no
call, and how far the turn is in the answers since. Entries with an odd number play one call a step, the others a whole
turn at once.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from server.openai_server import Scripted

from console.benchmarks.bfcl.conversation.scripted_answers import expected_calls
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.rules.entry import Entry, entry_of
from console.core.case import Case

DONE = "That is done."
Calls = list[tuple[str, dict[str, Any]]]


class TrajectoryModel:
    """Answers chat requests for known cases of one category."""

    def __init__(self, cases: Iterable[Case], dataset: Dataset, mode: str) -> None:
        self.mode = mode
        self.strangers = 0
        self.asked: Counter[str] = Counter()
        """Requests by their whole text: how often the very same thing was asked."""
        self._by_start: dict[str, list[tuple[list[list[str]], list[list[Calls]]]]] = {}
        self._lock = threading.Lock()
        for case in cases:
            entry = entry_of(case)
            turns = [_said(messages) for messages in entry.question]
            self._by_start.setdefault("\n".join(turns[0]), []).append((turns, _steps(entry, dataset)))

    def __call__(self, request: dict[str, Any]) -> Scripted:
        messages = cast(list[dict[str, Any]], request["messages"])
        with self._lock:
            self.asked[json.dumps([messages, request.get("tools")], sort_keys=True)] += 1
        turn, step = self._place(messages)
        found = self._expected(messages, turn)
        if found is None:
            self.strangers += 1
            return Scripted("I do not know this conversation.")
        steps = found[turn]
        if step >= len(steps):
            return Scripted(DONE)
        if self.mode == "fc":
            return Scripted(calls=list(steps[step]))
        return Scripted(f"[{', '.join(_written(name, given) for name, given in steps[step])}]")

    def _place(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        turn = step = 0
        for message in messages:
            if message["role"] == "assistant":
                closing = message.get("content") == DONE
                turn, step = (turn + 1, 0) if closing else (turn, step + 1)
        return turn, step

    def _expected(self, messages: Sequence[Mapping[str, Any]], turn: int) -> list[list[Calls]] | None:
        """Find the conversation by everything that was said in it; twins must expect the same now."""
        said = [str(message.get("content")) for message in messages if message["role"] == "user"]
        found: list[list[list[Calls]]] = []
        for turns, steps in (one for begin, all_ in self._by_start.items() if said[0] in begin for one in all_):
            lines = [line for lines in turns[: turn + 1] for line in lines]
            if all(line in said for line in lines):
                found.append(steps)
        assert all(steps[turn] == found[0][turn] for steps in found), "two entries say the same and expect otherwise"
        return found[0] if found else None


def _said(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(message["content"]) for message in messages if message["role"] == "user"]


def _steps(entry: Entry, dataset: Dataset) -> list[list[Calls]]:
    docs = [doc for name in entry.involved_classes for doc in dataset.function_docs(name)]
    apart = int(entry.id.rpartition("_")[2]) % 2 == 1
    by_turn = [list(expected_calls(entry, docs, turn)) for turn in range(len(entry.question))]
    return [[[call] for call in calls] if apart else [calls] if calls else [] for calls in by_turn]


def _written(name: str, given: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
