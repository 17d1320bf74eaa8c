"""Journaled effects, replayed so that resuming, retrying or grading a conversation again pays nothing twice."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from console.core.case import Case, Key, Slot
from console.core.fault import Fault, FaultKind, UsageError
from console.core.outcome import Outcome
from console.core.record import (
    AnyRecord,
    Asked,
    Embedded,
    Finished,
    Lost,
    Noted,
    Performed,
    Scored,
    Started,
    Tried,
)
from console.core.request import Thread
from console.core.tally import Counted, has_grade, without_output
from console.store.journal import JournalReader
from console.store.journal_line import as_json

Effect = Asked | Embedded | Performed
JUDGES = frozenset({"judge", "second_judge"})
"""Roles that grade answers and never write them."""


def fingerprint(record: Scored | Noted) -> bytes:
    """Return a key under which equal scores or notes of one conversation compare equal."""
    if isinstance(record, Scored):
        return as_json(["score", record.name, record.value, record.threshold, record.turn])
    return as_json(["note", record.kind, record.data, record.turn, record.step])


@dataclass(slots=True)
class ConversationEffects:
    """One conversation's journaled effects, found by digest and consumed in order."""

    effects: dict[str, deque[Effect]] = field(default_factory=lambda: defaultdict(deque))
    notes: Counter[bytes] = field(default_factory=Counter[bytes])
    threads: dict[str, Thread] = field(default_factory=lambda: defaultdict(Thread))
    records: list[AnyRecord] = field(default_factory=list[AnyRecord])
    """All records in order, for a worker that continues the conversation."""
    earlier: "EarlierPlay | None" = None
    """An earlier play of the conversation whose answers are reused."""
    in_order: list[Effect] = field(default_factory=list[Effect])
    """All effects in order."""
    failed_role: str = ""
    """Role of the last call that was given up."""

    def add(self, record: AnyRecord) -> None:
        self.records.append(record)
        match record:
            case Asked():
                self.threads[record.role].expand(record)
                self._add_effect(record)
            case Embedded() | Performed():
                self._add_effect(record)
            case Scored() | Noted():
                self.notes[fingerprint(record)] += 1
            case Tried(role=role, wait_s=None):
                self.failed_role = role
            case _:
                pass

    def _add_effect(self, effect: Effect) -> None:
        self.effects[effect.digest].append(effect)
        self.in_order.append(effect)

    def pop_next(self, digest: str) -> Effect | None:
        """Return and consume the next effect of a request, or None."""
        effects = self.effects.get(digest)
        return effects.popleft() if effects else None

    def repeats(self, record: Scored | Noted) -> bool:
        """Return whether a score or note is already journaled, and consume it."""
        key = fingerprint(record)
        if self.notes[key] <= 0:
            return False
        self.notes[key] -= 1
        return True

    def up_to(self, replies: int) -> "ConversationEffects":
        """Return the effects requested before the model's N+1st reply."""
        asked = sorted(effect.n for effect in self.in_order if isinstance(effect, Asked) and effect.role == "model")
        beginning = ConversationEffects()
        for effect in self.in_order if replies < len(asked) else ():
            if effect.n < asked[replies]:
                beginning.add(effect)
        return beginning if replies < len(asked) else self

    @property
    def unused(self) -> int:
        """Number of effects not requested again: a sign that the play has diverged from the journal."""
        return sum(len(queue) for queue in self.effects.values())

    @property
    def first_unused(self) -> int:
        """Number of the first unused effect, where the play diverged."""
        return min(effect.n for queue in self.effects.values() for effect in queue)


@dataclass(slots=True)
class EarlierPlay:
    """An earlier play of a conversation, whose effects a new play reuses."""

    effects: ConversationEffects
    finished: Finished | None = None
    asked_anew: frozenset[str] = frozenset()
    """Roles that are called again instead of reusing their answers."""
    is_closed: bool = False
    """True if only judges, and the roles called again, may be called."""
    is_taken_whole: bool = False
    """True if another tool played it; all calls are then reused at once, regardless of the requests now made."""
    replies: int | None = None
    """Number of the model's replies to repeat, each for an equal request, before the new play goes live.

    None if any effect for an equal request is taken over.
    """

    def check_whole(self) -> None:
        """Called when the new play goes live: check that it has requested everything recorded before that point."""
        if self.effects.unused:
            words = "cannot be continued from here: it does less before this point than was recorded"
            raise Fault(FaultKind.UNANSWERED, words)


def ungraded_play(effects: ConversationEffects, finished: Finished) -> EarlierPlay | None:
    """Return, for another attempt, a play that has its answer and lacks only the grade; None for any other.

    If a judge's call failed, its earlier replies are kept. If the play is undecided, its judges are asked again or, if
    it has none, everybody but the model.
    """
    match finished.verdict.outcome:
        case Outcome.BROKEN if effects.failed_role in JUDGES:
            return EarlierPlay(effects, finished)
        case Outcome.UNDECIDED:
            asked = effects.threads.keys()
            return EarlierPlay(effects, finished, frozenset(JUDGES & asked or asked - {"model"}))
        case _:
            return None


def read_ungraded_play(journal: Path, slot: Slot) -> EarlierPlay | None:
    """Return the last play of a rollout if it lacks only its grade (see `ungraded_play`)."""
    effects = JournalEffects()
    effects.add_all(record for record in JournalReader(journal).iter_all() if _slot_of(record) == slot)
    return effects.ungraded.get(slot)


def _slot_of(record: AnyRecord) -> Slot | None:
    key = getattr(record, "key", None)
    return key.slot if isinstance(key, Key) else None


@dataclass(slots=True)
class JournalEffects:
    """Effects and outcomes in a whole journal, for resuming."""

    cases: dict[str, Case] = field(default_factory=dict[str, Case])
    finished: MutableMapping[Slot, Counted] = field(default_factory=dict[Slot, Counted])
    unfinished: dict[Key, ConversationEffects] = field(default_factory=dict[Key, ConversationEffects])
    attempts: dict[Slot, int] = field(default_factory=dict[Slot, int])
    """Latest attempts after the first."""
    ungraded: dict[Slot, EarlierPlay] = field(default_factory=dict[Slot, EarlierPlay])
    """Latest attempts that have an answer and lack only the grade."""

    def add_all(self, records: Iterable[AnyRecord]) -> None:
        """Add records in journal order; effects of finished conversations are dropped."""
        for record in records:
            self.add(record)

    def add(self, record: AnyRecord) -> None:
        match record:
            case Started(key=key) | Finished(key=key) if self._is_reroll(key):
                pass
            case Started(key=key, case=case):
                self.cases[key.case] = case
                slot = key.slot
                if self.attempts.get(slot, 1) != key.attempt:
                    self.attempts[slot] = key.attempt
                self.unfinished.setdefault(key, ConversationEffects())
            case Finished(key=key) if key.case in self.cases:
                self.finished[key.slot] = without_output(record)
                effects = self.unfinished.pop(key, None)
                earlier = None if effects is None else ungraded_play(effects, record)
                if earlier is not None:
                    self.ungraded[key.slot] = earlier
                else:
                    self.ungraded.pop(key.slot, None)
            case Finished(key=key):  # its beginning is damaged, the rest unusable: make another attempt
                self.attempts[key.slot] = key.attempt + 1
            case Asked() | Embedded() | Performed() | Scored() | Noted() | Lost() | Tried():
                if record.key in self.unfinished:
                    self.unfinished[record.key].add(record)
            case _:
                pass

    def _is_reroll(self, key: Key) -> bool:
        is_known = key.case in self.cases and key not in self.unfinished
        return is_known and has_grade(self.finished.get(key.slot))


def read_whole(reader: JournalReader) -> Iterator[AnyRecord]:
    """Yield all records of a journal to be continued, skipping damaged lines.

    Raises: UsageError: parts were written by a newer version; continuing would pay for them again.
    """
    yield from reader.iter_all()
    if newer := [damage for damage in reader.damages if damage.is_newer]:
        raise UsageError(
            f"line {newer[0].line} was {newer[0].why}",
            where=str(reader.path),
            hint="Continue with the version that wrote it; this version can read only the other lines.",
        )
