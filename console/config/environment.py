"""Environment variables, with a `.env` file in the current folder as fallback.

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
    """Return the value of a variable from the environment or else from `.env`, or None if unset or empty."""
    value = os.environ.get(name, "").strip()
    return value or _dotenv().get(name) or None


def origin(name: str) -> str:
    """Return the origin of a variable: `environment`, `.env`, or empty if unset."""
    if os.environ.get(name, "").strip():
        return "environment"
    return ".env" if _dotenv().get(name) else ""


def dotenv_warning() -> str:
    """Return a warning if other users of the machine can read `.env`; else empty."""
    try:
        mode = stat.S_IMODE(Path(".env").stat().st_mode)
    except OSError:
        return ""
    return f".env is readable by other users (mode {mode:o}); run: chmod 600 .env" if mode & 0o077 else ""


def _dotenv() -> dict[str, str]:
    path = Path(".env")
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() and path.stat().st_size < 1 << 16 else ""
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: double or single or bare for name, double, single, bare in _LINE.findall(text)}
