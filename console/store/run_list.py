"""The runs of a folder, newest first: the one place where runs are listed, found by name, and the newest is picked.

Few runs are read one by one. Of many, what an earlier look has learnt is in an index (`run_index`), which is derived:
whatever it does not know, or what has changed since, is read from the runs themselves.
"""

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.store.run_scan import ListedFolder, date_runs, index_path, newest_first, read_listed, run_names
from console.store.runs import RunFolder

if TYPE_CHECKING:
    from console.store.run_index import RunIndex

INDEXED_FROM = 256
"""Fewer runs are read in less time than opening the index takes."""
LEAST_PART = 3
"""Characters from which on a part of a name can mean a run."""
_OWN_NAME = re.compile(r"^\d{4}-\d\d-\d\dT\d{4}-(.+)-[0-9a-f]{4}$")
"""A folder as `runs.new_run_id` names it."""
MOST_LISTED = 5
"""Names that a message lists."""


def list_runs(root: Path) -> list[RunFolder]:
    """Return all runs under a folder, newest first; a folder without run.json is no run."""
    return [RunFolder(root / name) for name in _names(root, _open_index(root))]


def newest_run(root: Path) -> RunFolder | None:
    """Return the newest run; None: there is none."""
    index = _open_index(root)
    for limit in (1, None):  # all of them only when the first has lost its manifest since it was indexed
        newest = next((run for name in _names(root, index, limit) if _is_run(run := RunFolder(root / name))), None)
        if newest is not None:
            return newest
    return None


def count_runs(root: Path) -> int:
    """Return how many runs there are."""
    return len(_names(root, _open_index(root)))


def read_summaries(root: Path, limit: int | None = None) -> Iterator[ListedFolder]:
    """Yield the newest runs with their summaries, newest first, at most `limit`; those that cannot be read say why."""
    index = _open_index(root)
    names = iter(_names(root, index, limit))
    while batch := list(itertools.islice(names, 500)):
        folders = [RunFolder(root / name) for name in batch]
        if index is not None:
            yield from index.summaries(folders)
        else:
            yield from map(read_listed, folders)


def read_newest(root: Path, most: int) -> tuple[list[ListedFolder], int] | None:
    """Return the newest runs with their summaries, at most so many, and how many runs there are.

    None: no index knows that, and reading the runs is the way to find it out.
    """
    index = _open_index(root, may_make=False)
    if index is None:
        return None
    names = index.names()
    return list(index.summaries([RunFolder(root / name) for name in names[:most]])), len(names)


def find_run(root: Path, name: str) -> RunFolder:
    """Find a run by folder name, by path, by a part of its name that no other has, or `latest`.

    Raises:
        UsageError: no such run (names the nearest), several, or a part that is too short to mean one of them.
    """
    if os.sep in name or name in (".", ".."):
        run = RunFolder(Path(name).resolve())
        run.manifest()
        return run
    if name == "latest" and (run := newest_run(root)) is not None:
        return run
    if name and _is_run(RunFolder(root / name)):
        return RunFolder(root / name)
    return RunFolder(root / name_with_part(name, _names(root, _open_index(root)), where=f" in {root}"))


def name_with_part(part: str, names: Sequence[str], *, where: str = "") -> str:
    """Return the only name that is called so without its time and tail, or begins with a part, or has it.

    Args:
        part: of a run's name. Fewer than `LEAST_PART` characters mean no run, however few there are: a bare number
            would pick one by the digits of its date.
        names: of all runs.
        where: what the message adds to a name that nothing has.

    Raises:
        UsageError: none (names the nearest), several, or too short a part (names those that have it).
    """
    called = [name for name in names if own_name(name) == part]
    if len(called) == 1:
        return called[0]
    matching = called or [name for name in names if name.startswith(part)] or [name for name in names if part in name]
    if not matching:
        raise UsageError(f"no run is called {part!r}{where}", hint=_hint_for_unknown(part, names))
    listed = ", ".join(matching[:MOST_LISTED]) + (", …" if len(matching) > MOST_LISTED else "")
    if len(part) < LEAST_PART:
        why = f"{part!r} is too short for a part of a run's name: it could be {listed}"
        raise UsageError(why, hint=f"Give {LEAST_PART} characters or more.")
    if len(matching) > 1:
        raise UsageError(f"{part!r} could be {len(matching)} runs: {listed}", hint="Give more of the name.")
    return matching[0]


def own_name(name: str) -> str:
    """Return what a run was called, without the time before it and the random tail: `mem` of `2026-…T2205-mem-40d1`."""
    return _OWN_NAME.sub(r"\1", name)


def split_case(which: str) -> tuple[str, str]:
    """Return run and case of `RUN#CASE`; the newest run where none is named, and no case where there is no mark."""
    name, _, case = which.partition("#")
    return name or "latest", case


def _hint_for_unknown(name: str, names: Sequence[str]) -> str:
    if not names:
        return "Nothing has been run yet; start with `eval-console run`."
    close = nearest(name, names)
    return f"Did you mean {close}?" if close else "`eval-console runs` lists them."


def _names(root: Path, index: "RunIndex | None", limit: int | None = None) -> list[str]:
    if index is not None:
        return index.names(limit)
    return [run.name for run in newest_first(date_runs(root, run_names(root)))[:limit]]


def _open_index(root: Path, *, may_make: bool = True) -> "RunIndex | None":
    """Return the index of a folder of many runs; it was of many when there is one, else one is made if that may be."""
    if not index_path(root).exists() and not (may_make and len(run_names(root)) >= INDEXED_FROM):
        return None
    from console.store.run_index import RunIndex  # here, as SQLite takes longer to load than few runs to read

    return RunIndex(root)


def _is_run(run: RunFolder) -> bool:
    """Whether it is one; a folder that may not be entered is, and reading it says why."""
    try:
        os.stat(run.manifest_path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
