"""Foreign names in file systems, and names as people type them.

macOS keeps names in either Unicode form and in any case, and takes those that differ only in that for one; Linux tells
them apart. So a name of a file never depends on case, or is distinct from those that exist, and names are compared in
one Unicode form.
"""

import re
import unicodedata
from collections.abc import Collection


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
