"""Listing of a folder's runs, newest first, and lookup by name: the only place that does either.

Small folders are read run by run. Large ones use a derived index (`run_index`); whatever it lacks, or has changed
since, is read from the runs themselves.
"""

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.core.fault import UsageError
from console.core.names import normalized
from console.core.suggestion import suggest
from console.store.file_names import listed_name
from console.store.run_marks import read_marks
from console.store.run_scan import ListedFolder, date_runs, index_path, newest_first, read_listed, run_names
from console.store.runs import RunFolder

if TYPE_CHECKING:
    from console.store.run_index import RunIndex

INDEXED_FROM = 256
"""Minimum number of runs worth an index."""
LEAST_PART = 3
"""Minimum prefix length for matching a run name."""
_OWN_NAME = re.compile(r"^\d{4}-\d\d-\d\dT\d{4}-(.+)-(?:[0-9a-f]{4}|[0-9a-f]{6})$")
"""Folder names as built by `runs.new_run_id`."""
MOST_LISTED = 5
"""Maximum number of names listed in a message."""


def list_runs(root: Path) -> list[RunFolder]:
    """Return all runs under a folder, newest first; folders without run.json are skipped."""
    return [RunFolder(root / name) for name in _names(root, _open_index(root))]


def newest_run(root: Path) -> RunFolder | None:
    """Return the newest run that is not archived, or a branch if there are only branches; None if there is none."""
    index, branch = _open_index(root), None
    for limit in (1, None):  # all of them only if the first is a branch, archived, or lost its manifest
        for run in (RunFolder(root / name) for name in _names(root, index, limit)):
            if not _is_run(run) or run.is_archived:
                continue
            if not _is_branch(run):
                return run
            branch = branch or run
    return branch


def run_to_resume(root: Path) -> RunFolder | None:
    """Return the newest run that ended early, branches and trials included; None if there is none.

    The newest run of all counts too if a case of it broke or is undecided.
    """
    newest = newest_run(root)
    for folder, summary in ((listed.folder, listed.summary) for listed in read_summaries(root)):
        if summary is None or summary.archived:
            continue
        tally, is_newest = summary.tally, newest is not None and folder.path == newest.path
        has_broken = summary.state == "completed" and tally.finished > tally.graded + tally.setup
        if summary.can_resume or (has_broken and is_newest):
            return folder
    return None


def count_runs(root: Path) -> int:
    """Return the number of runs."""
    return len(_names(root, _open_index(root)))


def read_summaries(root: Path, limit: int | None = None) -> Iterator[ListedFolder]:
    """Yield the newest runs with their summaries or the reason why they are unreadable, at most `limit`."""
    index = _open_index(root)
    names = iter(_names(root, index, limit))
    while batch := list(itertools.islice(names, 500)):
        folders = [RunFolder(root / name) for name in batch]
        if index is not None:
            yield from index.summaries(folders)
        else:
            yield from map(read_listed, folders)


def read_newest(root: Path, most: int) -> tuple[list[ListedFolder], int] | None:
    """Return up to `most` of the newest runs with their summaries, and the total number of runs.

    None if there is no index, in which case the runs must be read.
    """
    index = _open_index(root, may_make=False)
    if index is None:
        return None
    names = index.names()
    return list(index.summaries([RunFolder(root / name) for name in names[:most]])), len(names)


def find_run(root: Path, name: str) -> RunFolder:
    """Find a run by folder name, path, name given by a reader, unique part of its name, or `latest`.

    Raises:
        UsageError: no such run (names the nearest), several matches, or too short a part.
    """
    if os.sep in name or name in (".", ".."):
        try:
            path = Path(name).resolve()
        except (OSError, RuntimeError) as error:  # a link that leads to itself
            raise UsageError("this link is broken", where=name) from error
        if not path.name:
            raise UsageError("this is not a run folder", where=name)
        run = RunFolder(path.with_name(listed_name(path.name, path.parent)))
        run.manifest()
        return run
    if name == "latest" and (run := newest_run(root)) is not None:
        return run
    if name and _is_run(RunFolder(root / name)):
        return RunFolder(root / listed_name(name, root))
    names = _names(root, _open_index(root))
    given = [other for other in names if normalized(read_marks(root / other).name) == normalized(name)]
    if name and len(given) == 1:
        return RunFolder(root / given[0])
    return RunFolder(root / name_with_part(name, names, where=f" in {root}"))


def name_with_part(part: str, names: Sequence[str], *, where: str = "") -> str:
    """Return the only name that matches: without its time and tail, by prefix, or by substring.

    Args:
        part: part of a run's name. Fewer than `LEAST_PART` characters never match: a bare number would pick a run by
            the digits of its date.
        names: names of all runs.
        where: appended to the message if nothing matches.

    Raises:
        UsageError: no match (names the nearest), several matches, or too short a part (names the matches).
    """
    typed = normalized(part)
    spelled = {name: normalized(name) for name in names}
    called = [name for name in names if own_name(spelled[name]) == typed]
    if len(called) == 1:
        return called[0]
    begun = [name for name in names if spelled[name].startswith(typed)]
    matching = called or begun or [name for name in names if typed in spelled[name]]
    if not matching:
        raise UsageError(f"no run is named {part!r}{where}", hint=_hint_for_unknown(part, names))
    listed = ", ".join(matching[:MOST_LISTED]) + (", …" if len(matching) > MOST_LISTED else "")
    if called:
        raise UsageError(f"{len(called)} runs are named {part!r}: {listed}", hint="Give one of these names in full.")
    if len(part) < LEAST_PART:
        why = f"{part!r} is too short for a part of a run's name: it could be {listed}"
        raise UsageError(why, hint=f"Give {LEAST_PART} characters or more.")
    if len(matching) > 1:
        raise UsageError(f"{part!r} matches {len(matching)} runs: {listed}", hint="Give more of the name.")
    return matching[0]


def own_name(name: str) -> str:
    """Return a run's name without timestamp and random tail: `mem` for `2026-…T2205-mem-40d1`."""
    return _OWN_NAME.sub(r"\1", name)


def split_case(which: str) -> tuple[str, str]:
    """Split `RUN#CASE`; an empty run means the latest one, and without `#` the case is empty."""
    name, _, case = which.partition("#")
    return name or "latest", case


def _hint_for_unknown(name: str, names: Sequence[str]) -> str:
    if not names:
        return "Nothing has been run yet; start with `eval-console run`."
    return suggest(name, names, "`eval-console runs` lists them.")


def _names(root: Path, index: "RunIndex | None", limit: int | None = None) -> list[str]:
    if index is not None:
        return index.names(limit)
    return [run.name for run in newest_first(date_runs(root, run_names(root)))[:limit]]


def _open_index(root: Path, *, may_make: bool = True) -> "RunIndex | None":
    """Return the index of a large folder; `may_make` allows creating one."""
    if not index_path(root).exists() and not (may_make and len(run_names(root)) >= INDEXED_FROM):
        return None
    from console.store.run_index import RunIndex  # imported late: loading SQLite takes longer than reading a few runs

    return RunIndex(root)


def _is_branch(run: RunFolder) -> bool:
    """Return whether a run replays cases of another one; False if its manifest is unreadable."""
    try:
        return bool(run.manifest().parent)
    except UsageError:
        return False


def _is_run(run: RunFolder) -> bool:
    """Return whether a folder is a run; an inaccessible one counts, and reading it reports the reason."""
    try:
        os.stat(run.manifest_path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
