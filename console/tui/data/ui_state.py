"""`UiState`: settings persisted across starts: theme, order, filter, grouping, last run.

Stored in the state folder; may be deleted at any time. A damaged or unknown file is ignored; if writing fails, state is
kept in memory only.
"""

from pathlib import Path
from typing import Any

import msgspec

from console.core.fault import UsageError
from console.store.atomic import change_file, read_regular

_LONGEST = 500
"""Default maximum number of characters in a stored string; longer ones are not ours."""


class UiState:
    """Strings and switches by name, stored in one file."""

    def __init__(self, path: Path | None = None) -> None:
        """Read the file; without a path, keep state in memory only."""
        self._path = path
        self._kept = _read(path)

    def text(self, name: str, default: str = "", *, longest: int = _LONGEST) -> str:
        """Return a stored string, or the default if it is missing or longer than `longest` characters."""
        value = self._kept.get(name)
        return value if isinstance(value, str) and len(value) <= longest else default

    def switch(self, name: str, default: bool) -> bool:
        value = self._kept.get(name)
        return value if isinstance(value, bool) else default

    def keep(self, name: str, value: str | bool) -> None:
        if self._kept.get(name) == value:
            return
        self._kept[name] = value
        if self._path is None:
            return

        def kept(before: bytes | None) -> bytes:
            return msgspec.json.format(msgspec.json.encode({**_decoded(before or b""), name: value}), indent=1)

        try:
            change_file(self._path, kept)
        except (UsageError, ValueError):
            self._path = None


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return _decoded(read_regular(path))
    except OSError:
        return {}


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (ValueError, RecursionError):
        return {}
