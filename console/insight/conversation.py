"""One conversation, built from its records and from live frames of calls in flight.

Serves running and recorded runs alike: records provide facts; frames provide text in progress, which the record
replaces. Records must be applied in journal order; frames may be early, late or duplicate.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from console.core.case import Case, Key
from console.core.chat import Usage
from console.core.live import Activity, Began, Delta
from console.core.outcome import Verdict
from console.core.record import (
    GREETING,
    MAIN_REPLIES,
    AnyRecord,
    Asked,
    Embedded,
    Finished,
    Noted,
    Performed,
    Scored,
    Started,
    Tried,
)
from console.core.request import Thread
from console.core.source import SOURCE
from console.insight.executed_code import CELL, HIDDEN_PASSAGES, code_missing_from_reply, is_echo, is_returned
from console.insight.message import NormalizedMessage, listed_results, normalized_message, normalized_reply
from console.insight.passage import Passage, PassageKind, ShownMedia, call_passage, show_json_lines

if TYPE_CHECKING:
    from console.core.media import Media, MediaReference

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
_SPEAKERS = {
    ("judge", True): "judge",
    ("judge", False): "to the judge",
    ("second_judge", True): "second judge",
    ("second_judge", False): "to the second judge",
    (SIMULATED_USER, True): "user",
    (SIMULATED_USER, False): "to the simulated user",
}
"""Speaker by role and whether the passage is a reply, for roles other than the model."""
_TITLE = 120
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
    asks: tuple[Passage, ...] = ()
    """New messages of the request that are not settled yet."""
    is_aside: bool = False
    """True if it belongs to a conversation other than the main one."""

    def passages(self) -> list[Passage]:
        head = self.began
        parts = [
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
        if self.is_aside:
            return [_thread_passage([*self.asks, *parts], head.n, streaming=True)]
        return [*self.asks, *parts]


class Conversation:
    """Transcript and state of one attempt at a rollout."""

    def __init__(self, key: Key, read_file: "Callable[[MediaReference], bytes | None] | None" = None) -> None:
        """Begin with no records; `read_file` reads files of the run's folder; None if they are not needed."""
        self.key, self.read_file = key, read_file or _gone
        self.case: Case | None = None
        self._passages: list[Passage] = []
        self._forest: Forest | None = None
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

    @property
    def passages(self) -> list[Passage]:
        """Settled passages in order; append-only unless calls may be of several conversations (`Started.forks`)."""
        return self._passages if self._forest is None else self._forest.passages()

    @property
    def model_calls(self) -> list[Exchange]:
        """Finished calls of the main conversation to the model."""
        if self._forest is None:
            return [exchange for exchange in self.exchanges if exchange.asked.role == "model"]
        return self._forest.main_calls()

    @property
    def threads(self) -> list[list[Exchange]]:
        """Finished calls to the model by conversation, those of the main one first."""
        return [self.model_calls] if self._forest is None else self._forest.threads()

    def apply(self, record: AnyRecord) -> None:
        """Apply one record, which must belong to this conversation."""
        self.revision += 1
        match record:
            case Started():
                self.case = record.case
                if record.forks:
                    self._forest = Forest(self.key, record.case.data.get("input"))
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
        self._flights[frame.n] = flight = _Flight(frame)
        if self._forest is not None:
            flight.asks, flight.is_aside = self._forest.place(frame, self._sent_whole(frame))
        else:
            self._show_request(frame)
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

    def _show_request(self, frame: Began) -> None:
        """Show the messages of a call in flight, once the simulated user's reply that they repeat is recorded."""
        others = (flight.began for flight in self._flights.values() if flight.began is not frame)
        if frame.n not in self._shown and all(other.role != SIMULATED_USER for other in others):
            self._show_messages(frame.messages, frame.role, frame.turn, frame.step, frame.n)

    def _sent_whole(self, frame: Began) -> list[dict[str, Any]]:
        """Return all messages of a call in flight."""
        earlier = [exchange for exchange in self.exchanges if exchange.asked.role == frame.role]
        if frame.base:
            earlier = [exchange for exchange in earlier if exchange.asked.n == frame.base]
        return [*(earlier[-1].messages[: frame.prefix] if earlier else ()), *frame.messages]

    def _ask(self, record: Asked) -> None:
        whole = self._threads[record.role].expand(record)
        exchange = Exchange(record, whole.messages, whole.tools)
        self.exchanges.append(exchange)
        if self._forest is not None:
            self._forest.add_call(exchange)
        else:
            self.show_call(record, record.messages)
        self._answered.add(record.n)
        self._flights.pop(record.n, None)
        if self._forest is None:
            for flight in self._flights.values():
                self._show_request(flight.began)
        self._reach(record.role, record.turn, record.step)

    def show_call(self, record: Asked, messages: list[dict[str, Any]]) -> None:
        """Show a call with its new messages."""
        if record.n not in self._shown:
            self._show_messages(messages, record.role, record.turn, record.step, record.n)
        self._answered.add(record.n)
        self._show_reply(record)

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
            shown = _passages(message, self._called.get(message.answers, ""), role, turn, step, n)
            if message.media:
                shown[-1] = replace(shown[-1], media=tuple(map(self._with_file, message.media)))
            for passage in shown:
                if not is_returned(passage, self._passages):
                    self.append(replace(passage, repeats=is_echo(passage, self._passages)))

    def _is_of_simulated_user(self, message: NormalizedMessage, role: str) -> bool:
        """Return whether the message is a simulated user's reply, or a text sent again to a simulated user."""
        if role == SIMULATED_USER:
            return message.role not in ("system", "tool")
        return message.role == "user" and message.text.strip() in self._user_words

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
            self.append(replace(passage, role=record.role, turn=record.turn, step=record.step, n=record.n))

    def _with_file(self, media: "Media") -> ShownMedia:
        return ShownMedia(media, partial(self.read_file, media.reference))

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
        if record.kind == MAIN_REPLIES and self._forest is not None:
            self._forest.note_transcript(record.data)
            return
        text = record.data if isinstance(record.data, str) else show_json_lines(record.data)
        if record.kind == GREETING:  # sent to the model later, as its own first message
            self._own_words.add(normalized_message({"role": "assistant", "content": text}).words)
            self._add(PassageKind.ASSISTANT, text, role="model", turn=record.turn, step=record.step)
            return
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
        self.append(Passage(kind, text, **more))

    def append(self, passage: Passage) -> None:
        self.revision += 1
        if self._forest is None:
            self._passages.append(passage)
        else:
            self._forest.add_passage(passage)


@dataclass(slots=True)
class _ShownThread:
    """One conversation of a forest, with the part of it that has been drawn."""

    shown: Conversation
    calls: list[int] = field(default_factory=list[int])
    """Numbers of its calls in the tree."""
    last: Thread = field(default_factory=Thread)
    passage: Passage | None = None
    """The whole thread as one passage."""

    def show(self, exchange: Exchange) -> None:
        _, new, _ = self.last.condense(exchange.messages, exchange.tools)
        self.shown.show_call(exchange.asked, new)
        self.passage = None


class Forest:
    """The conversations of one rollout: the main one, with a passage for each of the others."""

    def __init__(self, key: Key, case_input: Any) -> None:
        """Create the forest of a rollout of a case with this input."""
        from console.core.call_tree import CallTree  # imported late: few runs need it

        self._key = key
        self._tree = CallTree(case_input)
        self._items: list[tuple[int | None, Exchange | Passage]] = []
        """Calls and other passages in order; model calls with their number in the tree."""
        self._calls: list[Exchange] = []
        self._woven: list[Passage] | None = []
        self._main = _ShownThread(Conversation(key))
        self._read = 0
        """Items already added to the main conversation."""
        self._places: dict[int, int] = {}
        """Number of main-conversation passages before each call of another conversation."""
        self._asides: dict[int, _ShownThread] = {}
        """The other threads by their first call."""

    def add_call(self, exchange: Exchange) -> None:
        number = None
        if exchange.asked.role == "model":
            number = len(self._calls)
            self._calls.append(exchange)
            self._tree.add(exchange.messages, exchange.tools, exchange.asked.reply)
        self._items.append((number, exchange))
        self._woven = None

    def add_passage(self, passage: Passage) -> None:
        """Add a passage to the main conversation."""
        self._items.append((None, passage))
        self._woven = None

    def note_transcript(self, replies: Any) -> None:
        """Record the digests of the main conversation's replies, reported by the program itself."""
        texts = cast("list[Any]", replies) if isinstance(replies, list) else []
        self._tree.note_transcript([str(text) for text in texts])
        self._woven = None

    def place(self, frame: Began, messages: list[dict[str, Any]]) -> tuple[tuple[Passage, ...], bool]:
        """Return the new messages of a call in flight, and whether it is outside of the main conversation."""
        if frame.role != "model":
            return (), False
        parent, threads = self._tree.parent_of(messages), self._tree.threads()
        is_aside = bool(threads) and parent != threads[0][-1]
        sent = len(self._calls[parent].messages) if parent is not None else 0
        passages: list[Passage] = []
        for message in map(normalized_message, messages[sent:]):
            if message.role != "assistant":
                passages += _passages(message, "", frame.role, frame.turn, frame.step, frame.n)
        return tuple(passages), is_aside

    def main_calls(self) -> list[Exchange]:
        return self.threads()[0] if self._calls else []

    def threads(self) -> list[list[Exchange]]:
        """Return the calls of each conversation, those of the main one first."""
        return [[self._calls[number] for number in thread] for thread in self._tree.threads()]

    def passages(self) -> list[Passage]:
        """Return the passages of the main conversation, with one for each other thread where its first call ended."""
        if self._woven is None:
            main, *asides = self._tree.threads() or [[]]
            self._draw_main(main)
            self._asides = {calls[0]: self._drawn_aside(calls) for calls in asides}
            woven, last = list[Passage](), 0
            for first in sorted(self._asides):
                place, aside = self._places[first], self._asides[first]
                if aside.passage is None:
                    calls = [self._calls[number].asked for number in aside.calls]
                    aside.passage = _thread_passage(aside.shown.passages, calls[0].n, calls)
                woven += [*self._main.shown.passages[last:place], aside.passage]
                last = place
            self._woven = [*woven, *self._main.shown.passages[last:]]
        return self._woven

    def _draw_main(self, calls: list[int]) -> None:
        """Draw new passages of the main conversation, or all of it if it is now a different conversation."""
        drawn = self._main.calls
        more = calls[len(drawn) :]
        seen = max((number for number, _ in self._items[: self._read] if number is not None), default=-1)
        if calls[: len(drawn)] != drawn or (more and more[0] <= seen):
            self._main, self._read = _ShownThread(Conversation(self._key)), 0
        members = frozenset(calls)
        for number, item in self._items[self._read :]:
            if isinstance(item, Passage):
                self._main.shown.append(item)
            elif number is None or number in members:
                self._main.show(item)
            else:
                self._places[number] = len(self._main.shown.passages)
        self._main.calls, self._read = calls, len(self._items)

    def _drawn_aside(self, calls: list[int]) -> _ShownThread:
        thread = self._asides.get(calls[0])
        if thread is None or calls[: len(thread.calls)] != thread.calls:
            thread = _ShownThread(Conversation(self._key))
        for number in calls[len(thread.calls) :]:
            thread.show(self._calls[number])
        thread.calls = calls
        return thread


def _thread_passage(
    passages: Sequence[Passage], n: int, calls: Sequence[Asked] = (), *, streaming: bool = False
) -> Passage:
    """Return a thread as one passage, whose text joins those of all its passages."""
    asked = [passage.text for passage in passages if passage.kind is PassageKind.USER and passage.text.strip()]
    first = " ".join((asked or [passages[0].text if passages else ""])[0].split())
    usages = [call.reply.usage for call in calls if call.reply.usage is not None]
    return Passage(
        PassageKind.THREAD,
        "\n".join(f"{passage.kind.value}: {passage.head} {passage.text}".strip() for passage in passages),
        head=first[:_TITLE],
        n=n,
        value=float(len(calls)),
        usage=Usage(sum(usage.input for usage in usages), sum(usage.output for usage in usages)) if usages else None,
        streaming=streaming,
        passages=tuple(passages),
    )


def _gone(reference: "MediaReference") -> None:
    """Return None, for use when the run's folder is unknown."""
    del reference


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


def speaker_of(passage: Passage) -> str:
    """Name the speaker of a message, or the kind of another passage."""
    if passage.kind not in (PassageKind.SYSTEM, PassageKind.USER, PassageKind.ASSISTANT):
        return passage.kind.value
    return _SPEAKERS.get((passage.role, passage.kind is PassageKind.ASSISTANT), passage.kind.value)


def shared_passages(a: Conversation, b: Conversation) -> int:
    """Return the number of leading passages with equal text and calls in two conversations."""
    pairs = zip(a.passages, b.passages, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: _is_same(*pair), pairs))


def _is_same(a: Passage, b: Passage) -> bool:
    return (a.kind, a.role, a.head, a.text, a.arguments) == (b.kind, b.role, b.head, b.text, b.arguments)


def actual_text(conversation: Conversation) -> str:
    """Return the model's last answer as source text."""
    if not conversation.exchanges:
        return ""
    reply = (conversation.model_calls or conversation.exchanges)[-1].asked.reply
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return "\n".join([text for text in (reply.content or "", *calls) if text])
