"""Names of files on file systems that take names which differ in case or Unicode form for one."""

import hashlib
import os
from pathlib import Path

from console.core.names import find_name, folded, normalized


def listed_name(name: str, folder: Path) -> str:
    """Return an existing entry's name as its folder lists it, where the file system accepts other spellings of it."""
    names = _names_in(folder)
    same = [other for other in names if folded(other) == folded(name)] if name not in names else []
    return next((other for other in same if _is_same(folder / other, folder / name)), name)


def distinct_name(name: str, folder: Path, suffix: str = "") -> str:
    """Return `name`, or one marked with its digest if a differently spelled one in `folder` would be taken for it.

    Args:
        name: a foreign name that can be a file's.
        folder: where it is to be used; need not exist.
        suffix: appended to either.
    """
    names = _names_in(folder)
    marked = f"{name}~{hashlib.sha256(normalized(name).encode('utf-8', 'surrogatepass')).hexdigest()[:6]}{suffix}"
    plain = find_name(name + suffix, names)
    if plain is None and (marked in names or os.path.lexists(folder / (name + suffix))):
        return marked
    return plain or name + suffix


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False
