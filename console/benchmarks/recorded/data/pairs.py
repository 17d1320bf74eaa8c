"""Pairs of answers to the same case, read from the journals of finished runs."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.core.case import Case, Slot
from console.core.chat import Message
from console.core.outcome import Outcome
from console.core.record import Asked, Finished, Started
from console.core.request import Thread
from console.core.tally import without_rerolls
from console.store.journal_index import JournalIndex
from console.store.runs import RunFolder

_NAMES = {"user": "User", "assistant": "Assistant", "tool": "It gets back"}
_WITHOUT_ANSWER = (Outcome.BROKEN, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class _Conversation:
    case: Case
    messages: tuple[Message, ...]
    """All messages except system messages, including the model's last one."""
    passed: bool


def read_pairs(folders: Sequence[RunFolder]) -> Iterator[Case]:
    """Yield a case for each pair of answers to the same rollout of a case, in the order of the first run.

    Raises:
        UsageError: a journal cannot be read.
    """
    runs = [_conversations(folder) for folder in folders]
    for slot in dict.fromkeys(slot for run in runs for slot in run):
        for one, other in itertools.combinations(range(len(runs)), 2):
            if slot in runs[one] and slot in runs[other]:
                yield _pair(slot, (one, other), runs[one][slot], runs[other][slot], is_only=len(runs) == 2)


def _pair(slot: Slot, numbers: tuple[int, int], a: _Conversation, b: _Conversation, *, is_only: bool) -> Case:
    case_id, rollout = slot
    shared = _shared(a.messages, b.messages)
    answers = [_answer(each.messages[count:]) for each, count in zip((a, b), shared, strict=True)]
    which = "" if is_only else f"~{numbers[0] + 1}-{numbers[1] + 1}"
    return Case(
        f"{case_id}{f'~r{rollout + 1}' if rollout else ''}{which}",
        a.case.category,
        {
            "conversation": _transcript(a.messages[: shared[0]]),
            "answers": answers,
            "pair": list(numbers),
            "passed": [a.passed, b.passed],
        },
        title=a.case.title,
        cluster=a.case.cluster or case_id,
    )


def _shared(a: Sequence[Message], b: Sequence[Message]) -> tuple[int, int]:
    """Return the number of leading messages in the question: the equal ones, or else all before the first answer."""
    equal = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    equal = min(equal, len(a) - 1, len(b) - 1)
    return (max(equal, 0), max(equal, 0)) if equal > 0 else (_questions(a), _questions(b))


def _questions(messages: Sequence[Message]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda message: message["role"] != "assistant", messages))


def _answer(messages: Sequence[Message]) -> str:
    """Return the text of a single reply, or the rest of a longer conversation as a transcript."""
    if len(messages) == 1 and not messages[0].get("tool_calls"):
        return _text(messages[0].get("content"))
    return _transcript(messages)


def _transcript(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        name = _NAMES.get(message["role"], message["role"])
        if text := _text(message.get("content")):
            lines.append(f"{name}: {text}")
        for call in message.get("tool_calls") or ():
            function = call["function"]
            lines.append(f"{name} calls {function['name']}({function['arguments']})")
    return "\n".join(lines)


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = cast("list[dict[str, Any]]", content)
        return "\n".join(str(part.get("text") or f"({part.get('type', 'part')})") for part in parts)
    return content if isinstance(content, str) else ""


def _conversations(folder: RunFolder) -> dict[Slot, _Conversation]:
    """Return the last answers of a run by case and rollout, except broken ones."""
    journal, cases, finished = JournalIndex(folder.journal_path), dict[str, Case](), dict[Slot, Finished]()
    for record in without_rerolls(journal.iter_all()):
        if isinstance(record, Started):
            cases[record.key.case] = record.case
        elif isinstance(record, Finished):
            finished[record.key.slot] = record
    return {
        slot: _Conversation(cases[slot[0]], messages, record.verdict.outcome is Outcome.PASSED)
        for slot, record in finished.items()
        if slot[0] in cases
        and cases[slot[0]].graded
        and record.verdict.outcome not in _WITHOUT_ANSWER
        and (messages := _messages(journal, record))
    }


def _messages(journal: JournalIndex, finished: Finished) -> tuple[Message, ...]:
    thread, reply = Thread(), None
    for record in journal.read(finished.key):
        if isinstance(record, Asked) and record.role == "model":
            thread.expand(record)
            reply = record.reply
    if reply is None:
        return ()
    asked = [
        cast("Message", message) for message in thread.messages if message.get("role") not in ("system", "developer")
    ]
    return (*asked, reply.message())
