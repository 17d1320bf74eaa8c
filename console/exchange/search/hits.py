"""Search in the index: matching conversations by run, newest first, with their passages read from the journals."""

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from console.core.annotation import NO_ANNOTATION
from console.core.case import Key, Slot
from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.exchange.search.indexing import LAYOUT, ConversationFacts, RunFacts, conversation_of
from console.insight.passage import Passage
from console.insight.rollout import Rollout
from console.insight.search_query import SearchQuery, best_passage
from console.store.journal import records_at
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.store.search_index import IndexDamaged, OtherLayout, SearchReader, discard_index

FEW_HITS = 3
"""Number of hits shown for each run, unless only one run is searched."""
_PATIENCE_S = 0.1
"""Seconds after which the first hits of a run are shown while its search continues."""
_decode_run = msgspec.msgpack.Decoder(ready_type(RunFacts)).decode
_decode_conversation = msgspec.msgpack.Decoder(ready_type(ConversationFacts)).decode


@dataclass(frozen=True, slots=True)
class Hit:
    """A conversation that matches."""

    rollout: Rollout
    """The conversation, without its messages and streamed text."""
    passage: Passage | None
    """The first passage that contains most of the terms; None if the journal no longer has it."""

    @property
    def key(self) -> Key:
        return self.rollout.key


@dataclass(frozen=True, slots=True)
class RunHits:
    """The matches in one run."""

    folder: RunFolder
    facts: RunFacts
    count: int
    """Number of matching rollouts found so far."""
    hits: list[Hit]
    """The first hits, most recently ended at the top."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the runs folder is indexed."""

    runs: int = 0
    conversations: int = 0


class NoIndex(Exception):
    """There is no usable search index; an update creates one."""


@contextlib.contextmanager
def _index_errors_reported(root: Path) -> Generator[None]:
    """Raise `NoIndex` in place of errors of the index, and delete a damaged one."""
    try:
        yield
    except (OtherLayout, OSError, sqlite3.Error) as error:
        raise NoIndex(str(error)) from error
    except (IndexDamaged, msgspec.DecodeError, UnicodeDecodeError) as error:
        discard_index(root)
        raise NoIndex(str(error)) from error


class Search:
    """An opened search index; use it in one thread, as a context manager."""

    def __init__(self, root: Path) -> None:
        """Open the index.

        Raises:
            NoIndex: there is none yet, or it must be rebuilt.
        """
        self.root = root
        with _index_errors_reported(root):
            self._reader = SearchReader(root, LAYOUT)
            self.coverage = Coverage(*self._reader.count())

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    def run_of(self, number: int) -> tuple[RunFolder, RunFacts] | None:
        """Return a run by its number in the index, or None if it has been removed.

        Raises:
            NoIndex: the index is damaged, or was removed.
        """
        with _index_errors_reported(self.root):
            run = self._reader.run(number)
            if run is None:
                return None
            folder, facts = RunFolder(self.root / run.name), _decode_run(run.facts)
            facts.title = folder.marks.name or facts.title  # it may have been renamed since
            return folder, facts

    def suites(self) -> list[str]:
        """Return the names of the suites of all runs.

        Raises:
            NoIndex: the index is damaged, or was removed.
        """
        with _index_errors_reported(self.root):
            return sorted({_decode_run(run.facts).suite for run in self._reader.runs()})

    def of_case(self, suite: str, case: str) -> list[tuple[int, ConversationFacts]]:
        """Return run number and facts of all conversations about a case, oldest run first.

        Raises:
            NoIndex: the index is damaged, or was removed.
        """
        with _index_errors_reported(self.root):
            return [(number, _decode_conversation(facts)) for number, facts in self._reader.of_case(suite, case)]

    def run(
        self, query: SearchQuery, most: int = FEW_HITS, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[RunHits]:
        """Yield the runs with matches, newest first; one with many matches is yielded repeatedly, with growing counts.

        Args:
            query: what to search for; without terms, nothing matches.
            most: maximum number of hits of each run; the others are only counted.
            stopped: called between conversations; True ends the search.

        Raises:
            NoIndex: the index is damaged, or was removed.
        """
        with _index_errors_reported(self.root):
            if query.expression:
                for number, conversations in itertools.groupby(self._matches(query), lambda match: match[0]):
                    if (run := self.run_of(number)) is not None:
                        yield from self._in_run(*run, (facts for _, facts in conversations), query, most, stopped)
                    if stopped():
                        return

    def _matches(self, query: SearchQuery) -> Iterator[tuple[int, bytes]]:
        if not (query.runs or query.suites):
            return self._reader.matches(query.expression)
        covered = [run.number for run in self._reader.runs() if query.covers(run.name, _decode_run(run.facts).suite)]
        return itertools.chain.from_iterable(self._reader.matches(query.expression, number) for number in covered)

    def _in_run(
        self,
        folder: RunFolder,
        facts: RunFacts,
        matches: Iterable[bytes],
        query: SearchQuery,
        most: int,
        stopped: Callable[[], bool],
    ) -> Iterator[RunHits]:
        conversations = RunConversations(folder, facts, query)
        slots: set[Slot] = set()
        hits: list[Hit] = []
        yield_at = time.monotonic() + _PATIENCE_S
        for packed in matches:
            if stopped():
                break
            conversation = _decode_conversation(packed)
            if conversation.rollout.slot in slots or not conversations.matches(conversation):
                continue
            slots.add(conversation.rollout.slot)
            if len(hits) < most:
                hits.append(conversations.hit(conversation))
            if time.monotonic() > yield_at:
                yield RunHits(folder, facts, len(slots), hits)
                yield_at = time.monotonic() + 10 * _PATIENCE_S
        if slots:
            yield RunHits(folder, facts, len(slots), hits)


class RunConversations:
    """Conversations of one run, for matching with a query."""

    def __init__(self, folder: RunFolder, facts: RunFacts, query: SearchQuery) -> None:
        self._folder = folder
        self._facts = facts
        self._query = query
        self._annotations = Notes(folder.path).annotations() if query.filter.text else {}

    @cached_property
    def _rerolled(self) -> set[Key]:
        """Attempts that do not count (see `RunFold.rerolled`)."""
        try:
            return self._folder.fold()[0].rerolled if self._folder.summary().rerolled else set()
        except (OSError, UsageError):
            return set()

    def matches(self, conversation: ConversationFacts) -> bool:
        """Return whether a conversation counts and satisfies the filter."""
        key = conversation.rollout.key
        if key.attempt > 1 and key in self._rerolled:
            return False
        chosen = self._query.filter
        if not chosen.text:
            return True
        rollout = conversation.rollout
        named = msgspec.structs.replace(rollout, model=f"{self._facts.model} {rollout.model}")
        words: Collection[str] = ()
        if chosen.words:
            text = " ".join(f"{passage.head} {passage.text}" for passage in self._passages(conversation)).casefold()
            words = {word for word in chosen.words if word in text}
        return chosen.matches(named, self._annotations.get(rollout.slot, NO_ANNOTATION), words)

    def hit(self, conversation: ConversationFacts) -> Hit:
        """Return a conversation with the passage that matches."""
        return Hit(conversation.rollout, best_passage(self._passages(conversation), self._query.terms))

    def _passages(self, conversation: ConversationFacts) -> list[Passage]:
        try:
            records = [
                record
                for record in records_at(self._folder.journal_path, conversation.starts)
                if getattr(record, "key", None) == conversation.rollout.key
            ]
            return conversation_of(self._folder.manifest(), records).passages
        except (OSError, UsageError):
            return []
