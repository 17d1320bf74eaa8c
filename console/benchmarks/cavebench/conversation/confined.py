"""Selects the parts of a scenario that enter the sandbox: code, data files, and each turn's query and two of its names.

Expectations never enter it, in files or in messages, because code written by the model runs inside. Validators
are scenario code and do enter, because they judge live objects.
"""

import bz2
import gzip
import lzma
import mmap
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any

_NAMED = ("validator", "pre_turn_hook")
_ENTERS = ("query", *_NAMED)
_MARKS = re.compile(
    rb"expected_function_calls|expected_variable_(?:reads|writes)|expected_calls|reference_response|\"cue\""
)
"""Words in files with expectations: scenarios, run results, or copies of either."""
_PACKED: dict[bytes, Callable[[Path], BufferedIOBase]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
"""Signatures of packed files with their decompressors; zip archives are recognized by their end."""
_UNPACKED_BYTES = 256 << 20
"""Maximum unpacked bytes to search; larger files are withheld."""
_PIECE_BYTES = 1 << 20
_UNREADABLE = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_CODE = frozenset({".py", ".pyi", ".pyc", ".so"})


def confined_turn(turn: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a turn sent to the worker when it starts."""
    return {key: turn[key] for key in _ENTERS if key in turn}


def named_functions(turn: dict[str, Any]) -> dict[str, Any]:
    """Return the names that the turn requires of its module."""
    return {key: turn[key] for key in _NAMED if key in turn}


def withheld_files(folder: Path, scenario_files: Iterable[str]) -> list[Path]:
    """Return the files of a dataset that a worker may not read: scenario files, results, and hidden folders.

    Args:
        folder: the dataset.
        scenario_files: its scenario files, relative to the folder.
    """
    withheld = {folder / name for name in scenario_files}
    return sorted(withheld | set(_telling_files(folder)))


def _telling_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        hidden = [name for name in folders if name.startswith(".")]
        yield from (Path(parent, name) for name in hidden)
        folders[:] = [name for name in folders if name not in hidden]
        yield from (path for name in names if _has_expectations(path := Path(parent, name)))


def _has_expectations(path: Path) -> bool:
    """Return True if a file other than code mentions expectations, or cannot be read."""
    if path.suffix in _CODE:
        return False
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _MARKS.search(content) is not None or _packed_has_expectations(path, content[:6])
    except _UNREADABLE:
        return True


def _packed_has_expectations(path: Path, beginning: bytes) -> bool:
    """Return True if a packed file mentions expectations.

    Raises:
        One of `_UNREADABLE`: it cannot be unpacked.
    """
    left = _UNPACKED_BYTES
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    left = _search(file, left)
                    if left <= 0:
                        return True
        return False
    for magic, unpack in _PACKED.items():
        if beginning.startswith(magic):
            with unpack(path) as file:
                return _search(file, left) <= 0
    return False


def _search(file: BufferedIOBase | IO[bytes], left: int) -> int:
    """Return the bytes left to unpack after this file; 0 if it mentions expectations or is too long."""
    tail = b""
    while piece := file.read(_PIECE_BYTES):
        left -= len(piece)
        if left <= 0 or _MARKS.search(tail + piece):
            return 0
        tail = piece[-100:]
    return left
