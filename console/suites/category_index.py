"""`CategoryIndex`: a cache of the case counts of suites.

Counting loads the suite's code and checks all rows. The index file can be deleted at any time. An entry is valid while
names, inodes, sizes and times of all files in the folder and of the program's suites, and the Python version, are
unchanged.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, read_regular, write_atomically
from console.suites.catalog import Catalog, read_suite_toml
from console.suites.modes import categories_with_modes
from console.suites.suite import Category, SuiteEntry

_PACKAGE = Path(__file__).resolve().parents[1]
_MOST_FILES = 1_000
"""Folders with more files are not cached, as reading file times would take as long as counting."""
_MOST_SUITES = 500
_SETTLED_NS = 2_000_000_000
"""Minimum age in ns of a change; a newer file could change again without a new timestamp."""

_Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Relative path, inode, size, mtime and ctime (ns) of each file."""


class _Counted(msgspec.Struct, frozen=True, array_like=True):
    stamp: _Stamp
    categories: tuple[Category, ...]


class _Saved(msgspec.Struct, array_like=True):
    program: tuple[int, _Stamp]
    """Python version and the stamps of the program's own files."""
    suites: dict[str, _Counted]
    """Counts by path of the folder."""


class CategoryIndex:
    """Counts categories and caches those of built-in formats in a file."""

    def __init__(self, path: Path) -> None:
        """Read the index file, which may be missing, corrupt or read-only."""
        self._path = path
        stamps = tuple(stamp for room in ("suites", "benchmarks") for stamp in _stamps(_PACKAGE / room))
        self._program = (sys.hexversion, stamps)
        self._saved = self._read()
        self._has_news = False

    def categories(self, catalog: Catalog, entry: SuiteEntry) -> tuple[Category, ...]:
        """Return the categories of a suite, each with its modes.

        Raises:
            UsageError: the suite cannot be opened, or its rows cannot be read.
        """
        stamp = _stamp_of(entry) if catalog.is_own_format(entry) else None
        counted = self._saved.suites.get(str(entry.folder))
        if stamp is not None and counted is not None and counted.stamp == stamp:
            return counted.categories
        categories = tuple(categories_with_modes(catalog.open(entry.name)))
        if stamp is not None and _is_settled(stamp) and not _has_outside_paths(entry.folder):
            self._saved.suites[str(entry.folder)] = _Counted(stamp, categories)
            self._has_news = True
        return categories

    def save(self) -> None:
        """Write new counts to the index file; ignore write errors."""
        if not self._has_news:
            return
        suites = {path: counted for path, counted in self._saved.suites.items() if os.path.isdir(path)}
        self._saved.suites = dict([*suites.items()][-_MOST_SUITES:])
        with contextlib.suppress(OSError, ValueError):  # ValueError: lone surrogate in a name
            self._path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            write_atomically(self._path, msgspec.msgpack.encode(self._saved), mode=PRIVATE, is_derived=True)

    def _read(self) -> _Saved:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            saved = msgspec.msgpack.decode(read_regular(self._path), type=ready_type(_Saved))
            if saved.program == self._program:
                return saved
        return _Saved(self._program, {})


def _stamp_of(entry: SuiteEntry) -> _Stamp | None:
    """Return the stamps of a folder, or None if it has too many files or cannot be read."""
    stamps: list[tuple[str, int, int, int, int]] = []
    try:
        for stamp in _stamps(entry.folder):
            stamps.append(stamp)
            if len(stamps) > _MOST_FILES:
                return None
    except (OSError, RecursionError):
        return None
    return tuple(stamps)


def _stamps(folder: Path, below: str = "") -> Iterator[tuple[str, int, int, int, int]]:
    with os.scandir(folder) as entries:
        for file in sorted(entries, key=lambda file: file.name):
            name = f"{below}{file.name}"
            if file.name == "__pycache__":
                continue
            if file.is_dir():
                yield from _stamps(Path(file.path), f"{name}/")
            else:
                status = os.stat(file.path)
                yield name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_settled(stamp: _Stamp) -> bool:
    return time.time_ns() - max((changed for *_, changed in stamp), default=0) > _SETTLED_NS


def _has_outside_paths(folder: Path) -> bool:
    """Return whether a string in suite.toml may be a path out of the folder, to files whose changes are not tracked."""
    try:
        return any(map(_leads_out, _texts_in(read_suite_toml(folder))))
    except UsageError:
        return True


def _leads_out(text: str) -> bool:
    return os.path.isabs(text) or text.startswith("~") or ".." in Path(text).parts


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts_in(item)
