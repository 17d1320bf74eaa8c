"""Pictures, sound and files of a row: located and hashed when rows are read, and read again when they are sent."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from console.benchmarks.dialogue.rules.mistakes import FieldError, shown
from console.benchmarks.dialogue.rules.script import AttachedFile
from console.core.fault import Fault, FaultKind
from console.core.media import Part, media_part, media_type_of
from console.store.atomic import read_regular

MOST_BYTES = 50_000_000
"""Maximum number of bytes in a file; no provider accepts larger ones."""


def attached(folder: Path, paths: Sequence[str], where: str, *, images: bool) -> list[AttachedFile]:
    """Return files of a suite's folder with their digests.

    Raises:
        FieldError: the file is missing, too large, or not a picture where one is required.
    """
    files: list[AttachedFile] = []
    for path in paths:
        if images and not media_type_of(path).startswith("image/"):
            raise FieldError(where, f"{shown(path)} does not have the name of a picture", "List it under `files`.")
        files.append(AttachedFile(path, hashlib.sha256(_content(folder, path, where)).hexdigest()))
    return files


def content_parts(folder: Path, files: Sequence[AttachedFile]) -> list[Part]:
    """Read files as content parts of a message.

    Raises:
        Fault: a file is missing, or has changed since the row was read.
    """
    return [_part(folder, file) for file in files]


def _part(folder: Path, file: AttachedFile) -> Part:
    try:
        data = _content(folder, file.path, "files")
    except FieldError as error:
        raise Fault(FaultKind.DATA, str(error)) from None
    if hashlib.sha256(data).hexdigest() != file.digest:
        raise Fault(FaultKind.DATA, f"{file.path} has changed since the cases were read")
    return media_part(data, media_type_of(file.path), Path(file.path).name)


def file_within(folder: Path, path: str, where: str) -> Path:
    """Return the path of a file that a row names.

    Raises:
        FieldError: it is no file name, or outside of the suite's folder.
    """
    if "\0" in path:
        raise FieldError(where, f"{shown(path)} is not a name of a file")
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise FieldError(where, f"{shown(path)} is not in the suite's folder")
    return file


def _content(folder: Path, path: str, where: str) -> bytes:
    file = file_within(folder, path, where)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise FieldError(where, f"{shown(path)} is larger than {MOST_BYTES // 1_000_000} MB")
        return read_regular(file)
    except OSError as error:
        raise FieldError(where, f"{shown(path)} cannot be read: {error.strerror}") from None
