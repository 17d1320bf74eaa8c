"""Reading of run folders without an index: names, creation times and summaries."""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from console.core.fault import UsageError, reason_of
from console.core.json_text import decode_as
from console.core.ranges import Moment
from console.core.run import Summary
from console.store.atomic import read_regular
from console.store.runs import RunFolder


class Dated(NamedTuple):
    """A run and its creation time."""

    name: str
    """Name of the folder. Untrusted text, because anybody can create folders."""
    at: float
    """Creation time from the manifest, in seconds since 1970."""
    is_exact: bool = True
    """False if the manifest is unreadable; the time is then that in the name, or 0."""


class ListedFolder(msgspec.Struct, frozen=True):
    """One run of a list: its summary, or the reason why it cannot be read."""

    folder: RunFolder
    summary: Summary | None
    mistake: str = ""


class _Made(msgspec.Struct):
    at: Moment


def newest_first(runs: Iterable[Dated]) -> list[Dated]:
    """Sort runs by the times in their manifests, newest first, and then by name."""
    return sorted(runs, key=lambda run: (run.at, run.name), reverse=True)


def read_listed(folder: RunFolder) -> ListedFolder:
    """Read the summary of one run."""
    try:
        return ListedFolder(folder, folder.summary())
    except (UsageError, OSError) as error:
        return ListedFolder(folder, None, reason_of(error))


def run_names(root: Path) -> list[str]:
    """Return the names of folders that may be runs, in no particular order.

    Raises:
        UsageError: the folder exists and cannot be read.
    """
    try:
        with os.scandir(root) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and _is_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UsageError(
            f"the runs folder cannot be read: {error.strerror}",
            hint=f"Check {root}, or choose another folder with --runs PATH.",
        ) from None


def date_runs(root: Path, names: Iterable[str]) -> Iterator[Dated]:
    """Yield those folders that are runs, with their creation times."""
    for name in names:
        run = RunFolder(root / name)
        try:
            yield Dated(name, decode_as(read_regular(run.manifest_path), _Made).at)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            if os.path.lexists(run.manifest_path) or not os.access(run.path, os.X_OK):
                yield Dated(name, _date_in(name), is_exact=False)


def index_path(root: Path) -> Path:
    """Return the path of a runs folder's index, whether or not it exists."""
    return root / ".index" / "runs.sqlite"


def _date_in(name: str) -> float:
    """Return the time at the beginning of a folder name, for runs whose manifest is unreadable; 0 if there is none."""
    stamp = re.match(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)(\d\d)", name)
    try:
        year, month, day, hour, minute = map(int, stamp.groups() if stamp else ())
        return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a symlink loop
        return False
