"""One conversation, built from its records and from live frames of calls in flight.

Serves running and recorded runs alike: records provide facts; frames provide text in progress, which the record
replaces. Records must be applied in journal order; frames may be early, late or duplicate.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from console.core.case import Case, Key
from console.core.live import Activity, Began, Delta
from console.core.outcome import Verdict
from console.core.record import AnyRecord, Asked, Embedded, Finished, Noted, Performed, Scored, Started, Tried
from console.core.request import Thread
from console.core.source import SOURCE
from console.insight.executed_code import CELL, HIDDEN_PASSAGES, code_missing_from_reply, is_echo, is_returned
from console.insight.message import NormalizedMessage, listed_results, normalized_message, normalized_reply
from console.insight.passage import Passage, PassageKind, call_passage, show_json_lines

_SAID = {
    "system": PassageKind.SYSTEM,
    "developer": PassageKind.SYSTEM,
    "user": PassageKind.USER,
    "prompt": PassageKind.USER,
    "tool": PassageKind.RESULT,
}
EMBEDDED = "answer embedded"
SIMULATED_USER = "user"
"""Role of a model that plays the user: it sees the same conversation from the other side."""
_RESENT = ("system", "prompt")
"""Roles that every request repeats: instructions, and the pieces of a plain-text prompt."""
_WRITTEN = {"reasoning": PassageKind.REASONING, "tool": PassageKind.CALL}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A finished model call: the request as sent and the reply as journaled."""

    asked: Asked
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


@dataclass(slots=True)
class _Flight:
    """A call in flight; its text by kind, in order of appearance."""

    began: Began
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def passages(self) -> list[Passage]:
        head = self.began
        return [
            Passage(
                _WRITTEN.get(kind, PassageKind.ASSISTANT),
                "".join(texts),
                role=head.role,
                turn=head.turn,
                step=head.step,
                n=head.n,
                streaming=True,
            )
            for kind, texts in self.parts.items()
        ]


class Conversation:
    """Transcript and state of one attempt at a rollout."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.case: Case | None = None
        self.passages: list[Passage] = []
        """Settled passages in order; append-only."""
        self.exchanges: list[Exchange] = []
        self.verdict: Verdict | None = None
        self.output: Any = None
        self.source: Any = None
        """Additional JSON data from another tool's log; None for runs of this console."""
        self.finished: Finished | None = None
        self.state = ""
        """Current activity in a word; empty when unknown."""
        self.why = ""
        self.turn = 0
        self.step = 0
        self.tries: list[Tried] = []
        self.revision = 0
        """Incremented with every change of settled content."""
        self._threads: dict[str, Thread] = defaultdict(Thread)
        self._flights: dict[int, _Flight] = {}
        self._answered: set[int] = set()
        self._shown: set[int] = set()
        self._called: dict[str, str] = {}
        """Function names by call id."""
        self._sent_messages: set[tuple[str, NormalizedMessage]] = set()
        self._user_words: set[str] = set()
        """Texts written by a simulated user."""
        self._own_words: set[tuple[str, tuple[tuple[str, str], ...]]] = set()

    def apply(self, record: AnyRecord) -> None:
        """Apply one record, which must belong to this conversation."""
        self.revision += 1
        match record:
            case Started():
                self.case = record.case
            case Asked():
                self._ask(record)
            case Tried():
                self._try(record)
            case Scored():
                self._add(
                    PassageKind.SCORE,
                    head=record.name,
                    turn=record.turn,
                    value=record.value,
                    threshold=record.threshold,
                )
            case Noted():
                self._note(record)
            case Performed():
                self._perform(record)
            case Embedded():
                self._add(PassageKind.NOTE, head=EMBEDDED, role=record.role, n=record.n)
            case Finished():
                self._finish(record)
            case _:
                pass

    def begin(self, frame: Began) -> None:
        """Start or restart a call in flight; ignored if already answered."""
        if frame.n in self._answered or self.verdict is not None:
            return
        if (flight := self._flights.get(frame.n)) is not None:
            flight.parts.clear()
            return
        self._flights[frame.n] = _Flight(frame)
        if frame.n not in self._shown:
            self._show_messages(frame.messages, frame.role, frame.turn, frame.step, frame.n)
        self._reach(frame.role, frame.turn, frame.step)

    def extend(self, delta: Delta) -> None:
        """Add text to a call in flight; ignored if the call is unknown or answered."""
        flight = self._flights.get(delta.n)
        if flight is not None:
            flight.parts.setdefault(delta.kind, []).append(delta.text)

    def act(self, activity: Activity) -> None:
        """Apply the engine's report of the current activity."""
        self.state, self.why = activity.state, activity.why

    def tail(self) -> list[Passage]:
        """Return the passages in progress, in the order their calls were sent."""
        return [passage for flight in self._flights.values() for passage in flight.passages()]

    def _ask(self, record: Asked) -> None:
        whole = self._threads[record.role].expand(record)
        self.exchanges.append(Exchange(record, whole.messages, whole.tools))
        if record.n not in self._shown:
            self._show_messages(record.messages, record.role, record.turn, record.step, record.n)
        self._answered.add(record.n)
        self._flights.pop(record.n, None)
        self._show_reply(record)
        self._reach(record.role, record.turn, record.step)

    def _show_messages(self, messages: list[dict[str, Any]], role: str, turn: int, step: int, n: int) -> None:
        self._shown.add(n)
        read = [normalized_message(message) for message in messages]
        replies = [index for index, message in enumerate(read) if message.role == "assistant"]
        for index, message in enumerate(read):
            if message.role == "assistant" and message.words in self._own_words:
                continue
            if self._is_of_simulated_user(message, role):
                continue
            is_old = index < max(replies, default=0) or (message.role in _RESENT and len(self._answered) > 0)
            if is_old and (role, message) in self._sent_messages:
                continue
            self._sent_messages.add((role, message))
            for passage in _passages(message, self._called.get(message.answers, ""), role, turn, step, n):
                if not is_returned(passage, self.passages):
                    self._append(replace(passage, repeats=is_echo(passage, self.passages)))

    def _is_of_simulated_user(self, message: NormalizedMessage, role: str) -> bool:
        """Return whether the message is a simulated user's reply, or words that a simulated user is sent again."""
        if role == SIMULATED_USER:
            return message.role not in ("system", "tool")
        return message.role == "user" and message.text in self._user_words

    def _show_reply(self, record: Asked) -> None:
        reply = record.reply
        if record.role == SIMULATED_USER:
            self._user_words.add((reply.content or "").strip())
        self._own_words.add(normalized_reply(reply).words)
        passages: list[Passage] = []
        if reply.reasoning:
            passages.append(Passage(PassageKind.REASONING, reply.reasoning))
        if reply.content or not reply.tool_calls:
            passages.append(Passage(PassageKind.ASSISTANT, reply.content or ""))
        passages += [call_passage(call) for call in reply.tool_calls]
        self._called |= {call.id: call.name for call in reply.tool_calls}
        passages[0] = replace(passages[0], usage=reply.usage, latency_s=reply.latency_s, answered_by=reply.model)
        for passage in passages:
            self._append(replace(passage, role=record.role, turn=record.turn, step=record.step, n=record.n))

    def _try(self, record: Tried) -> None:
        flight = self._flights.get(record.n)
        if flight is not None:
            flight.parts.clear()
        self.tries.append(record)
        text = record.message + (f"\n{record.partial}" if record.partial else "")
        self._add(PassageKind.TRY, text, head=record.kind, role=record.role, n=record.n, threshold=record.wait_s)

    def _perform(self, record: Performed) -> None:
        if record.kind == SOURCE:
            self.source = record.result
        if record.kind not in HIDDEN_PASSAGES:
            self._add(PassageKind.NOTE, _effect_text(record), head=record.kind, n=record.n)

    def _note(self, record: Noted) -> None:
        text = record.data if isinstance(record.data, str) else show_json_lines(record.data)
        if record.kind == CELL:
            text = code_missing_from_reply(record.data, self.passages)
        self._add(PassageKind.NOTE, text, head=record.kind, turn=record.turn, step=record.step, data=record.data)

    def _finish(self, record: Finished) -> None:
        self._flights.clear()
        self.finished, self.verdict, self.output = record, record.verdict, record.output
        self.state = self.why = ""
        self._add(
            PassageKind.VERDICT,
            "\n".join(record.verdict.messages),
            head=record.verdict.reason or record.verdict.outcome.value,
            turn=self.turn,
        )

    def _reach(self, role: str, turn: int, step: int) -> None:
        if role == "model":
            self.turn, self.step = max(self.turn, turn), step

    def _add(self, kind: PassageKind, text: str = "", **more: Any) -> None:
        self._append(Passage(kind, text, **more))

    def _append(self, passage: Passage) -> None:
        self.passages.append(passage)
        self.revision += 1


def _passages(message: NormalizedMessage, called: str, role: str, turn: int, step: int, n: int) -> list[Passage]:
    """Return the passages of a request message; `called` is the function whose result it may be."""
    kind = _SAID.get(message.role, PassageKind.ASSISTANT)
    results = listed_results(message.text) if kind is PassageKind.USER and step else []
    passages = [
        Passage(PassageKind.RESULT, text, head=name, role=role, turn=turn, step=step, n=n) for name, text in results
    ]
    if not results and (message.text or not message.calls):
        name = message.name or called if kind is PassageKind.RESULT else ""
        passages.append(Passage(kind, message.text, head=name, role=role, turn=turn, step=step, n=n))
    return passages + [call_passage(call, role=role, turn=turn, step=step, n=n) for call in message.calls]


def _effect_text(record: Performed) -> str:
    parts = [
        item if isinstance(item, str) else show_json_lines(item) for item in (record.request, record.result) if item
    ]
    return "\n".join(parts)


def shared_passages(a: Conversation, b: Conversation) -> int:
    """Return the number of equal passages that two conversations begin with, as to what was said and called."""
    pairs = zip(a.passages, b.passages, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: _is_same(*pair), pairs))


def _is_same(a: Passage, b: Passage) -> bool:
    return (a.kind, a.role, a.head, a.text, a.arguments) == (b.kind, b.role, b.head, b.text, b.arguments)


def actual_text(conversation: Conversation) -> str:
    """Return the model's last answer as source text."""
    if not conversation.exchanges:
        return ""
    answers = [exchange for exchange in conversation.exchanges if exchange.asked.role == "model"]
    reply = (answers or conversation.exchanges)[-1].asked.reply
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return "\n".join([text for text in (reply.content or "", *calls) if text])
