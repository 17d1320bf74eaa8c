"""Foreign names in file systems, and names as people type them.

macOS keeps names in either Unicode form and in any case, and takes those that differ only in that for one; Linux tells
them apart. So a name of a file never depends on case, or is distinct from those that exist, and names are compared in
one Unicode form.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Collection
from pathlib import Path


def slug(text: str, limit: int = 40) -> str:
    """Reduce foreign text to lower-case letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")[:limit]


def normalized(name: str) -> str:
    """Return a name in the composed Unicode form, which keyboards and most files have."""
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return a form that is equal for names that a file system which ignores case and Unicode form takes for one."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def find_name(name: str, names: Collection[str]) -> str | None:
    """Return the one of `names` that was meant: the same, or one in another Unicode form; None without one."""
    if name in names:
        return name
    typed = normalized(name)
    return next((other for other in names if normalized(other) == typed), None)


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
