"""Untrusted names as file names, and comparison of typed names.

macOS treats names that differ only in case or Unicode form as one; Linux tells them apart. So file names made here
never rely on either, and names are compared in one Unicode form.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence


def slug(text: str, limit: int = 40) -> str:
    """Reduce untrusted text to lower-case letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")[:limit]


def normalized(name: str) -> str:
    """Return a name in the composed Unicode form (NFC), which keyboards produce."""
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return a key that is equal for names that differ only in case or Unicode form."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def find_name(name: str, names: Collection[str]) -> str | None:
    """Return the matching member of `names`, in any Unicode form; None if there is none."""
    if name in names:
        return name
    typed = normalized(name)
    return next((other for other in names if normalized(other) == typed), None)


def first_few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names and the number of the others: `simple, multiple, parallel and 5 more`."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
