"""Full-text index of all conversations in a runs folder, and of the runs of every case: an SQLite file.

Stores no text: the FTS5 table is contentless, and each conversation has a row with the journal bytes at which its
records start, from which its text is read. Row numbers are the run's number, which grows with its creation time,
followed by the conversation's number in it, so that the newest matches come first without sorting. Prefixes of three
letters have their own index (a third of the size), because FTS5 merges the rows of all words with a prefix before the
first match, which takes most of a second for a million conversations; longer prefixes have fewer words.

The file is derived. It may be deleted at any time, and one of another layout, or a damaged one, is replaced. One
process at a time writes it, under a lock; each transaction contains both the records read and the position reached, so
that a killed writer loses and repeats nothing. FTS5 cannot delete what it does not store: rows of deleted runs and
superseded conversations stay in it unused until they outnumber the others (`is_wasteful`).
"""

import contextlib
import errno
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Self

import msgspec

from console.core.case import Key
from console.core.fault import Fault
from console.core.ready_type import ready_type
from console.store.atomic import PRIVATE_FOLDER, open_file
from console.store.lock import RunLock, RunLocked

_VERSION = 1
_TABLES = """
CREATE TABLE runs (number INTEGER PRIMARY KEY, name BLOB UNIQUE, facts BLOB, place BLOB, written INTEGER);
CREATE TABLE cases (number INTEGER PRIMARY KEY, suite TEXT, name TEXT, UNIQUE (suite, name));
CREATE TABLE conversations (number INTEGER PRIMARY KEY, of INTEGER, facts BLOB);
CREATE INDEX by_case ON conversations (of);
CREATE VIRTUAL TABLE words USING fts5 (said, prefix='3', content='', columnsize=0, tokenize='ascii');
"""
_SHIFT = 26
"""Bits of a row number for the conversation's number in its run."""
_LAST = (1 << 63) - 1
_FIRST_S = 1_577_836_800
"""Start of 2020, relative to which run numbers count."""
_PER_S = 16
_MOST_RUNS = 1 << 36
_WAIT_S = 5.0
_BATCH = 200
WASTE = 20_000
"""Minimum number of unused rows that justifies building a new index."""
_OF_SYSTEM = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
    }
)
"""Errors of disk and locks; all others are due to damage, such as duplicate numbers or an impossible length."""


class IndexDamaged(Exception):
    """The file is damaged."""


class OtherLayout(IndexDamaged):
    """The file has another layout, or none yet; the next writer replaces it."""


class OpenConversation(msgspec.Struct, array_like=True):
    """A conversation that has not ended."""

    key: Key
    starts: list[int] = []
    """First bytes of its records."""
    number: int = -1
    """Number of the conversation in the index; -1 if it is not indexed."""
    indexed: int = 0
    """Number of its indexed records."""


class Place(msgspec.Struct, array_like=True):
    """End of the indexed part of a run's journal."""

    offset: int = 0
    last: int = 0
    """Checksum of the bytes before `offset`, to recognize the journal."""
    size: int = 0
    modified_ns: int = 0
    is_settled: bool = False
    """True if conversations that have not ended are indexed as well."""
    written: int = 0
    """Number of conversations indexed; the number of the next one."""
    open: list[OpenConversation] = []


class IndexedRun(msgspec.Struct):
    """A run in the index."""

    number: int
    name: str
    """Name of its folder."""
    facts: bytes
    """Facts as given by the caller of `SearchWriter.open_run`."""
    place: Place


class Entry(msgspec.Struct):
    """A conversation to be indexed."""

    case: str
    words: str
    """Normalized words, separated by spaces."""
    facts: bytes


_decode_place = msgspec.msgpack.Decoder(ready_type(Place)).decode
_encode = msgspec.msgpack.Encoder().encode


def search_path(root: Path) -> Path:
    """Return the path of a runs folder's search index, whether or not it exists."""
    return root / ".index" / "search.sqlite"


def _lock_path(root: Path) -> Path:
    return search_path(root).with_suffix(".lock")


@contextlib.contextmanager
def _damage_reported() -> Generator[None]:
    """Raise `IndexDamaged` for errors that mean damage; even reading SQLite's own message may fail on it."""
    try:
        yield
    except (sqlite3.DatabaseError, msgspec.MsgspecError, ValueError, TypeError) as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OF_SYSTEM:
            raise
        raise IndexDamaged(str(error)) from error


class SearchReader:
    """Reads the index in one thread. All methods raise `IndexDamaged`, or sqlite3.Error if the file is not usable."""

    def __init__(self, root: Path, layout: int) -> None:
        """Open the index.

        Args:
            root: the runs folder.
            layout: version of the facts; an index of another one counts as damaged.

        Raises:
            FileNotFoundError: there is no index yet.
        """
        path = search_path(root)
        if not path.exists():
            raise FileNotFoundError(path)
        self._connect(path, _layout_number(layout))
        self._connection.execute("PRAGMA query_only = ON")

    def _connect(self, path: Path, layout: int) -> None:
        """Open the file and check its layout."""
        with _damage_reported():
            self._connection = _connected(path)
            try:
                self._check(layout)
            except BaseException:
                self._connection.close()
                raise

    def _check(self, layout: int) -> None:
        if self._number("PRAGMA user_version") != layout:
            raise OtherLayout("another layout")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _number(self, query: str, *values: object) -> int:
        row = self._connection.execute(query, values).fetchone()
        return row[0] if row else 0

    def runs(self) -> list[IndexedRun]:
        """Return all runs, newest first."""
        with _damage_reported():
            query = "SELECT number, name, facts, place FROM runs WHERE name IS NOT NULL ORDER BY number DESC"
            return [_indexed_run(row) for row in self._connection.execute(query)]

    def run(self, number: int) -> IndexedRun | None:
        """Return a run; None if no run has this number anymore."""
        with _damage_reported():
            query = "SELECT number, name, facts, place FROM runs WHERE number = ? AND name IS NOT NULL"
            row = self._connection.execute(query, (number,)).fetchone()
            return None if row is None else _indexed_run(row)

    def count(self) -> tuple[int, int]:
        """Return the numbers of runs and of conversations."""
        with _damage_reported():
            runs, conversations = "count(*) FROM runs WHERE name IS NOT NULL", "count(*) FROM conversations"
            return self._number(f"SELECT {runs}"), self._number(f"SELECT {conversations}")

    @property
    def is_wasteful(self) -> bool:
        """True if most rows of the index are unused."""
        with _damage_reported():
            written = self._number("SELECT coalesce(sum(written), 0) FROM runs")
            return written > 2 * self.count()[1] + WASTE

    def matches(self, expression: str, run: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield run number and facts of matching conversations, the newest run first, the last ended first.

        Args:
            expression: an FTS5 expression.
            run: number of the only run to search; None for all.
        """
        first, end = (0, _LAST) if run is None else (run << _SHIFT, (run + 1) << _SHIFT)
        query = (
            "SELECT words.rowid, facts FROM words JOIN conversations ON number = words.rowid"
            " WHERE words MATCH ? AND words.rowid >= ? AND words.rowid < ? ORDER BY words.rowid DESC"
        )
        with _damage_reported():
            cursor = self._connection.execute(query, (expression, first, end))
            while rows := cursor.fetchmany(_BATCH):
                for number, facts in rows:
                    yield number >> _SHIFT, facts

    def of_case(self, suite: str, case: str) -> list[tuple[int, bytes]]:
        """Return run number and facts of all conversations about a case, oldest run first."""
        query = (
            "SELECT conversations.number, facts FROM conversations JOIN cases ON of = cases.number"
            " WHERE suite = ? AND name = ? ORDER BY conversations.number"
        )
        with _damage_reported():
            rows = self._connection.execute(query, (_clean(suite), _clean(case))).fetchall()
            return [(number >> _SHIFT, facts) for number, facts in rows]


class SearchWriter(SearchReader):
    """The only writer of the index; use it as a context manager."""

    def __init__(self, root: Path, layout: int) -> None:
        """Lock the index; create it, or replace one of another layout.

        Raises:
            RunLocked: another process is writing.
            OSError: the folder cannot be written.
            Fault: the lock cannot be opened.
        """
        self._root, self._layout = root, _layout_number(layout)
        search_path(root).parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        self._lock = RunLock(_lock_path(root))
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> None:
        path = search_path(self._root)
        try:
            self._connect(path, self._layout)
        except IndexDamaged:
            _delete(path)
            self._connect(path, self._layout)

    def _check(self, layout: int) -> None:
        """Create the tables in an empty file, or check that those of an existing one can be read."""
        if not self._number("SELECT count(*) FROM sqlite_master"):
            self._connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {layout}; COMMIT")
        super()._check(layout)
        self.runs()

    def close(self) -> None:
        super().close()
        self._lock.release()

    def start_over(self) -> None:
        """Replace the index with an empty one."""
        self._connection.close()
        _delete(search_path(self._root))
        self._open()

    def commit(self) -> None:
        with _damage_reported():
            self._connection.commit()

    def open_run(self, name: str, at: float, facts: bytes) -> IndexedRun:
        """Add a run.

        Args:
            name: name of its folder.
            at: its creation time, by which runs are ordered.
            facts: anything about it.
        """
        with _damage_reported():
            number = min(max(int((at - _FIRST_S) * _PER_S), 0), _MOST_RUNS)
            while self._number("SELECT count(*) FROM runs WHERE number = ?", number):
                number += -1 if number else _MOST_RUNS  # runs are added from the newest to the oldest
            run = IndexedRun(number, name, facts, Place())
            row = (number, os.fsencode(name), facts, _encode(run.place))
            self._connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, 0)", row)
            return run

    def close_run(self, run: IndexedRun) -> None:
        """Remove a run and its conversations; its number is never used again, since its words stay in the index."""
        with _damage_reported():
            numbers = (run.number << _SHIFT, (run.number + 1) << _SHIFT)
            self._connection.execute("DELETE FROM conversations WHERE number >= ? AND number < ?", numbers)
            self._connection.execute(
                "UPDATE runs SET name = NULL, facts = NULL, place = NULL WHERE number = ?", (run.number,)
            )

    def add(self, run: IndexedRun, suite: str, entry: Entry) -> int:
        """Index a conversation and return its number; the caller must then call `keep_place`."""
        with _damage_reported():
            number = (run.number << _SHIFT) + run.place.written
            run.place.written += 1
            names = (_clean(suite), _clean(entry.case))
            self._connection.execute("INSERT OR IGNORE INTO cases (suite, name) VALUES (?, ?)", names)
            case = self._number("SELECT number FROM cases WHERE suite = ? AND name = ?", *names)
            self._connection.execute("INSERT INTO conversations VALUES (?, ?, ?)", (number, case, entry.facts))
            self._connection.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", (number, entry.words))
            return number

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove conversations that have been continued."""
        with _damage_reported():
            self._connection.executemany(
                "DELETE FROM conversations WHERE number = ?", [(number,) for number in numbers]
            )

    def keep_place(self, run: IndexedRun) -> None:
        """Save the position up to which a run has been indexed."""
        with _damage_reported():
            row = (_encode(run.place), run.place.written, run.number)
            self._connection.execute("UPDATE runs SET place = ?, written = ? WHERE number = ?", row)


def discard_index(root: Path) -> None:
    """Delete a damaged index, unless another process is writing it."""
    with contextlib.suppress(RunLocked, Fault, OSError), RunLock(_lock_path(root)):
        _delete(search_path(root))


def _delete(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _connected(path: Path) -> sqlite3.Connection:
    if not path.exists():
        os.close(open_file(path, os.O_RDWR | os.O_CREAT))
    elif not path.is_file():  # it is not opened here: closing it would release the locks of other connections
        raise OSError(errno.EINVAL, "it is not an ordinary file")
    connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")  # so that readers and the writer do not wait for each other
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _layout_number(layout: int) -> int:
    return (layout ^ _VERSION) & 0x7FFFFFFF


def _indexed_run(row: tuple[int, bytes, bytes, bytes]) -> IndexedRun:
    return IndexedRun(row[0], os.fsdecode(row[1]), row[2], _decode_place(row[3]))


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which SQLite cannot store."""
    return text.encode("utf-8", "replace").decode()
