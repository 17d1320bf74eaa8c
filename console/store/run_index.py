"""SQLite index of a runs folder: creation times, and summaries of the runs that are not being played.

The index is derived: it may be deleted at any time, and if it is missing, damaged, busy or not writable, the runs are
read directly. Its contents are validated on each use: the list of names by the modification time of the runs folder, a
summary by times and size of its journal and manifest, and both by checksums.
"""

import contextlib
import errno
import os
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import msgspec

from console.core.ready_type import ready_type
from console.core.run import COUNTING, Summary, Tally
from console.store.atomic import PRIVATE_FOLDER, open_file
from console.store.journal_file import ENDING
from console.store.run_marks import MARKS
from console.store.run_scan import Dated, ListedFolder, date_runs, index_path, newest_first, read_listed, run_names
from console.store.runs import JOURNAL, MANIFEST, RunFolder

ResultT = TypeVar("ResultT")
_LAYOUT = crc32(repr((COUNTING, Summary.__struct_fields__, Tally.__struct_fields__)).encode()) >> 1
"""Changes with the fields of a summary; an index of another layout is rebuilt."""
_TABLES = """
CREATE TABLE names (id INTEGER PRIMARY KEY, names BLOB, checksum INTEGER);
CREATE TABLE summaries (
    name BLOB PRIMARY KEY,
    manifest_ns INTEGER, journal_bytes INTEGER, journal_ns INTEGER, summary BLOB, checksum INTEGER
);
"""
_WAIT_S = 1.0
"""Seconds to wait for another process that writes the index."""
_SETTLED_NS = 2_000_000_000
"""A folder changed less than this ago may change again without a new timestamp."""
_REBUILD = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
"""SQLite errors that mean the file is not, or no longer, one of our indexes."""
_MOVING = frozenset({"running", "queued", "starting"})
"""States that can change without a change of the journal."""

_decode_summary = msgspec.msgpack.Decoder(ready_type(Summary)).decode
_encode = msgspec.msgpack.Encoder().encode
_Stamp = tuple[int, int, int]


class _Names(msgspec.Struct, frozen=True, array_like=True):
    """All runs, newest first; decoded only as far as needed."""

    root_ns: int = 0
    """Modification time of the runs folder; 0 if a change may have gone unnoticed, so that it must be read again."""
    names: bytes = b""
    """Names, separated by zero bytes."""
    times: bytes = b""
    """Creation times, eight bytes each."""
    others: bytes = b""
    """Folders that are not (yet) runs or whose manifest cannot be read; same format as `names`."""

    def first(self, limit: int | None) -> list[str]:
        """Return the names of the newest runs."""
        return _split(self.names, limit)

    def dated(self) -> list[Dated]:
        """Return all runs with their creation times."""
        return [Dated(name, at) for name, at in zip(_split(self.names), array("d", self.times), strict=True)]


def _joined(names: Iterable[str]) -> bytes:
    return b"\0".join(map(os.fsencode, names))


def _split(names: bytes, limit: int | None = None) -> list[str]:
    if not names or limit == 0:
        return []
    if limit is not None:
        names = b"\0".join(names.split(b"\0", limit)[:limit])
    return os.fsdecode(names).split("\0")


_decode_names = msgspec.msgpack.Decoder(ready_type(_Names)).decode


class _Damaged(Exception):
    """The index contains data that this program did not write."""


class RunIndex:
    """The index of one runs folder. Creating this object touches no file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = index_path(root)

    def names(self, limit: int | None = None) -> list[str]:
        """Return the names of all runs or the newest ones, newest first.

        Raises:
            UsageError: the runs folder cannot be read.
        """
        changed_ns = _changed_ns(self._root)
        saved = self._try(_read_names) or _Names()
        if saved.root_ns and saved.root_ns == changed_ns and not any(date_runs(self._root, _split(saved.others))):
            return saved.first(limit)
        return [run.name for run in self._read_again(saved, changed_ns)[:limit]]

    def _read_again(self, saved: _Names, changed_ns: int) -> list[Dated]:
        """List the runs, reading the manifests of new ones, and save the result."""
        names, by_name = run_names(self._root), {run.name: run for run in saved.dated()}
        dated = [by_name[name] for name in names if name in by_name]
        dated = newest_first([*dated, *date_runs(self._root, (name for name in names if name not in by_name))])
        exact = [run for run in dated if run.is_exact]
        is_settled = time.time_ns() - changed_ns > _SETTLED_NS
        names_now = _Names(
            root_ns=changed_ns if is_settled else 0,
            names=_joined(run.name for run in exact),
            times=array("d", [run.at for run in exact]).tobytes(),
            others=_joined(sorted(set(names).difference(run.name for run in exact))),
        )
        if names_now != saved:
            self._try(lambda connection: _write_names(connection, names_now, by_name.keys() - set(names)))
        return dated

    def summaries(self, folders: Sequence[RunFolder]) -> Iterator[ListedFolder]:
        """Yield these runs (a few hundred at most) in order with their summaries, skipping those without a manifest."""
        saved = self._try(lambda connection: _read_summaries(connection, folders)) or {}
        fresh: list[tuple[RunFolder, _Stamp, Summary]] = []
        for folder in folders:
            stamp = _stamp(folder)
            if stamp is not None and (row := saved.get(folder.name)) is not None and row[0] == stamp:
                yield ListedFolder(folder, row[1])
                continue
            if not os.path.lexists(folder.manifest_path) and os.access(folder.path.parent, os.X_OK):
                continue
            listed = read_listed(folder)
            if stamp is not None and listed.summary is not None and listed.summary.state not in _MOVING:
                fresh.append((folder, stamp, listed.summary))
            yield listed
        if fresh:
            self._try(lambda connection: _write_summaries(connection, fresh))

    def _try(self, act: Callable[[sqlite3.Connection], ResultT]) -> ResultT | None:
        """Run an action on the index, rebuilding a damaged one; None if there is no usable index."""
        for _ in range(2):
            try:
                with contextlib.closing(self._connect()) as connection, connection:
                    return act(connection)
            except (_Damaged, sqlite3.Error, ValueError, RecursionError) as error:
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _REBUILD:
                    return None
                self._discard()
            except OSError:
                return None
        return None

    def _connect(self) -> sqlite3.Connection:
        if not self._path.exists():
            self._path.parent.mkdir(PRIVATE_FOLDER, exist_ok=True)
            os.close(open_file(self._path, os.O_RDWR | os.O_CREAT))
        elif not self._path.is_file():  # it is not opened here: closing it would release the locks of other connections
            raise OSError(errno.EINVAL, "it is not an ordinary file")
        connection = sqlite3.connect(self._path, timeout=_WAIT_S)
        try:
            connection.execute("PRAGMA synchronous = OFF")  # rebuilt after a power cut
            if connection.execute("PRAGMA user_version").fetchone()[0] != _LAYOUT:
                _make_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _discard(self) -> None:
        for end in ("", "-journal"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Create the tables, replacing those of another layout."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == _LAYOUT:
            return  # another process has just done it
        for table in ("names", "summaries"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")


def _read_names(connection: sqlite3.Connection) -> _Names:
    row = connection.execute("SELECT names, checksum FROM names").fetchone()
    if row is None:
        return _Names()
    if not isinstance(row[0], bytes) or crc32(row[0]) != row[1]:
        raise _Damaged
    return _decode_names(row[0])


def _write_names(connection: sqlite3.Connection, names: _Names, gone: Iterable[str]) -> None:
    data = _encode(names)
    connection.execute("INSERT OR REPLACE INTO names VALUES (1, ?, ?)", (data, crc32(data)))
    connection.executemany("DELETE FROM summaries WHERE name = ?", [(os.fsencode(name),) for name in gone])


def _read_summaries(connection: sqlite3.Connection, folders: Sequence[RunFolder]) -> dict[str, tuple[_Stamp, Summary]]:
    names = [os.fsencode(folder.name) for folder in folders]
    rows = connection.execute(
        f"SELECT * FROM summaries WHERE name IN ({','.join('?' * len(names))})",  # noqa: S608 - placeholders only
        names,
    )
    saved: dict[str, tuple[_Stamp, Summary]] = {}
    for name, manifest_ns, journal_bytes, journal_ns, summary, checksum in rows:
        stamp = (manifest_ns, journal_bytes, journal_ns)
        if not isinstance(summary, bytes) or crc32(summary, crc32(repr((name, stamp)).encode())) != checksum:
            raise _Damaged
        saved[os.fsdecode(name)] = stamp, _decode_summary(summary)
    return saved


def _write_summaries(connection: sqlite3.Connection, fresh: list[tuple[RunFolder, _Stamp, Summary]]) -> None:
    rows: list[tuple[object, ...]] = []
    for folder, stamp, summary in fresh:
        try:
            name, data = os.fsencode(folder.name), _encode(summary)
        except ValueError:  # contains a lone surrogate; such a run is read each time
            continue
        rows.append((name, *stamp, data, crc32(data, crc32(repr((name, stamp)).encode()))))
    connection.executemany("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?, ?, ?)", rows)


def _stamp(folder: RunFolder) -> _Stamp | None:
    """Return values that change whenever a run's summary may; None if there is no readable journal."""
    start = f"{folder.path}{os.sep}"  # strings, as creating a `Path` takes longer than the stat call
    manifest = _status_of(start + MANIFEST)
    journal = _status_of(start + JOURNAL) or _status_of(start + JOURNAL + ENDING)
    if manifest is None or journal is None:
        return None
    marks = _status_of(start + MARKS)
    return max(manifest.st_mtime_ns, marks.st_mtime_ns if marks else 0), journal.st_size, journal.st_mtime_ns


def _status_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _changed_ns(root: Path) -> int:
    try:
        return root.stat().st_mtime_ns
    except OSError:
        return 0
