"""Environment variables, and a `.env` file of the current folder for those that are not set.

The real environment always wins; `.env` is read only from the current folder, never from a parent, and never exported.
"""

import os
import re
import stat
from pathlib import Path

_LINE = re.compile(
    r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^#\n]*?))\s*(?:#.*)?$", re.MULTILINE
)


def variable(name: str) -> str | None:
    """Return the value of a variable, from the environment or else from `.env`; None when unset or empty."""
    value = os.environ.get(name, "").strip()
    return value or _dotenv().get(name) or None


def origin(name: str) -> str:
    """Return where a variable comes from: `environment`, `.env`, or nothing when it is not set."""
    if os.environ.get(name, "").strip():
        return "environment"
    return ".env" if _dotenv().get(name) else ""


def dotenv_warning() -> str:
    """Return a warning when `.env` may be read by other users of the machine, else nothing."""
    try:
        mode = stat.S_IMODE(Path(".env").stat().st_mode)
    except OSError:
        return ""
    return f".env may be read by others (mode {mode:o}); run: chmod 600 .env" if mode & 0o077 else ""


def _dotenv() -> dict[str, str]:
    path = Path(".env")
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() and path.stat().st_size < 1 << 16 else ""
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: double or single or bare for name, double, single, bare in _LINE.findall(text)}
