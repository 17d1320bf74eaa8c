"""`UiState`: what the app remembers from one start to the next: colours, order, filter, grouping, the last run.

Lives in the state folder and may be deleted at any time. A damaged or foreign file is as good as none; one that cannot
be written costs the memory and nothing else.
"""

from pathlib import Path
from typing import Any

import msgspec

from console.store.atomic import write_atomically

_LONGEST = 500
"""Characters of one remembered text; what is longer was not written by us."""


class UiState:
    """Texts and switches by name, kept in one file."""

    def __init__(self, path: Path | None = None) -> None:
        """Read what was kept; without a path, remember only until the app ends."""
        self._path = path
        self._kept = _read(path)

    def text(self, name: str, default: str = "", *, longest: int = _LONGEST) -> str:
        """Return a remembered text of at most so many characters."""
        value = self._kept.get(name)
        return value if isinstance(value, str) and len(value) <= longest else default

    def switch(self, name: str, default: bool) -> bool:
        """Return whether something is switched on."""
        value = self._kept.get(name)
        return value if isinstance(value, bool) else default

    def keep(self, name: str, value: str | bool) -> None:
        """Remember a value from now on."""
        if self._kept.get(name) == value:
            return
        self._kept[name] = value
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, msgspec.json.format(msgspec.json.encode(self._kept), indent=1))
        except (OSError, ValueError):
            self._path = None


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError):
        return {}
