"""What of a scenario enters the sandbox: its code and data files, and of a turn its query and two names.

What is expected of the model stays outside, in files as well as in messages: code that the model wrote runs in there.
The validators are code of the scenario and do go in, because they judge the live objects.
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
"""Words that stand in files which say what is expected: scenarios, results of runs, copies of either."""
_PACKED: dict[bytes, Callable[[Path], BufferedIOBase]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
"""How packed files begin, and what unpacks them; archives of the zip kind are told by their end."""
_UNPACKED_BYTES = 256 << 20
"""Of a packed file with more in it nobody knows what it says."""
_PIECE_BYTES = 1 << 20
_UNREADABLE = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_CODE = frozenset({".py", ".pyi", ".pyc", ".so"})


def confined_turn(turn: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker gets of a turn, when it begins."""
    return {key: turn[key] for key in _ENTERS if key in turn}


def named_functions(turn: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker gets of a turn beforehand: the names of what its module must have."""
    return {key: turn[key] for key in _NAMED if key in turn}


def withheld_files(folder: Path, scenario_files: Iterable[str]) -> list[Path]:
    """Return what of a dataset's folder a worker may not read: scenario files, results, and hidden folders.

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
        yield from (path for name in names if _tells(path := Path(parent, name)))


def _tells(path: Path) -> bool:
    """Whether a file that is no code speaks of expectations; yes where it cannot be read."""
    if path.suffix in _CODE:
        return False
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _MARKS.search(content) is not None or _tells_packed(path, content[:6])
    except _UNREADABLE:
        return True


def _tells_packed(path: Path, beginning: bytes) -> bool:
    """Whether a file speaks of expectations once it is unpacked.

    Raises:
        One of `_UNREADABLE`: it cannot be.
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
    """Return how much more may be unpacked after this file; 0: it tells, or is too long."""
    tail = b""
    while piece := file.read(_PIECE_BYTES):
        left -= len(piece)
        if left <= 0 or _MARKS.search(tail + piece):
            return 0
        tail = piece[-100:]
    return left
