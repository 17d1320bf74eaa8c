"""File names on file systems that ignore case or Unicode form."""

import hashlib
import os
from pathlib import Path

from console.core.names import find_name, folded, normalized


def listed_name(name: str, folder: Path) -> str:
    """Return the name of an existing entry as listed by its folder, which may differ from the given spelling."""
    names = _names_in(folder)
    same = [other for other in names if folded(other) == folded(name)] if name not in names else []
    return next((other for other in same if _is_same(folder / other, folder / name)), name)


def distinct_name(name: str, folder: Path, suffix: str = "") -> str:
    """Return `name`, with a digest added if the file system would confuse it with another name in `folder`.

    Args:
        name: an untrusted name that can be a file's.
        folder: the folder for the name; need not exist.
        suffix: appended in both cases.
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
